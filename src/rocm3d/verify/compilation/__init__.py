"""Compiling a repository's native extensions for AMD targets, and telling what came out."""
