"""Frozen records and documents that all stages exchange. No I/O."""
