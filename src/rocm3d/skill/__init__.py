"""Writes the agent skill, and the record pages of the documentation, from knowledge/."""
