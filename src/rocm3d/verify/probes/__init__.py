"""One module per check. Each defines `probe`, which the registry in verify/probe.py loads."""
