"""Where jobs run: one module for each engine."""
