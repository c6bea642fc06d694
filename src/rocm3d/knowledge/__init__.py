"""Compatibility knowledge: load, validate and query the data folder and a user's overlay."""
