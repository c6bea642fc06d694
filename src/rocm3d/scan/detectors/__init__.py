"""One module per rule; `detector` in each is found by walking this package."""
