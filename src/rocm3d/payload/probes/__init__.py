"""Probes, one per package; loaded by path in the user's environment."""
