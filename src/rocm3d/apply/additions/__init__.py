"""One module per kind of new file; `addition` in each is found by walking this package."""
