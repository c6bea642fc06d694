"""Verify: Patch + Tree + targets -> Verdicts. What was not looked at is not_run, never passed."""
