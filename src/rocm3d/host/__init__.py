"""This machine: what is in it, read from files alone."""
