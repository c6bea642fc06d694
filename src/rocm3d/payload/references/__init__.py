"""References in closed form, shared by probes; loaded by path in the user's environment."""
