"""One module per kind of added file; each defines `addition`."""
