"""Readers of dependency and build files, one module per kind of file."""
