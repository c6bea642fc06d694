"""Renders documents: one module per output format. Stages do not depend on it."""
