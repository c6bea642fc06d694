"""Starts workloads and collects what they did."""
