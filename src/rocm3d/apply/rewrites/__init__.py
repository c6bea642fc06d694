"""One module per rewrite: its name is that of the rewrite, and its `edit` makes the edit."""
