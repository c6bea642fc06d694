"""One tool per file: what it takes, and what a worker does when it is called. None of them knows the protocol."""
