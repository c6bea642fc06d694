"""Lossless readers and editors of dependency and build files, one file per kind."""
