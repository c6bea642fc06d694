"""One probe each: loaded by path in the target's environment, imported by nobody here."""
