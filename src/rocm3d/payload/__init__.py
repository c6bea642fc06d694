"""Scripts that run in the user's environment; they use only the standard library and are started by path."""
