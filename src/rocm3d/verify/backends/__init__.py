"""Looks at packages in the target's environment: what runs there, how fast a path it takes, and whether it is right."""
