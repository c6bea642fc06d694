"""Judges recorded runs by the plan and by what the record of a known repository expects."""
