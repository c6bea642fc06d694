"""One module per kind of added file: its `render` returns the files."""
