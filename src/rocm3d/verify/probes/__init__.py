"""One module per check; `probe` in each is found by walking this package."""
