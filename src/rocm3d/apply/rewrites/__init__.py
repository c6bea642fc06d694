"""One module per rewrite; the registry walks this package and reads `rewrite` from each module."""
