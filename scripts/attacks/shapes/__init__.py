"""Hostile repositories: one module for each way in. SHAPES of a module are functions that add one trap to a Site."""
