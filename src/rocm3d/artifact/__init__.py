"""Readers and checks of what workloads produce."""
