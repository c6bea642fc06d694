"""Rules over Python sources."""
