"""Readers and checks of artifacts: the files that workloads write."""
