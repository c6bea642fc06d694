"""Scripts that run in the target's environment: standard library only, imported by nobody here."""
