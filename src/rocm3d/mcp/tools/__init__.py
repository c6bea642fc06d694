"""One tool per module: its arguments and its work. Independent of the protocol."""
