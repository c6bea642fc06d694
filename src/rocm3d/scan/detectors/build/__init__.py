"""Rules over build scripts."""
