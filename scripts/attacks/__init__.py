"""The attacks of `make attack`: one module for each, written against the command line and its promises."""
