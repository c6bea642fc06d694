"""One module per edit; `rewrite` in each is found by walking this package."""
