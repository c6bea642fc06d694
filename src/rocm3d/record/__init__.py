"""Runs workloads and records what they did."""
