"""Texture baking from photos."""
