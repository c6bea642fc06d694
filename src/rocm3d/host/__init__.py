"""Facts about this machine, read from files, and their diagnosis."""
