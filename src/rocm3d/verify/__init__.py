"""Verify: Patch + Tree + targets -> Verdicts. What was not checked is not_run, never passed."""
