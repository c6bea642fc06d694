"""Resolves requirements with uv or pip on top of a stack and checks what would be installed."""
