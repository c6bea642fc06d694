"""Exponential backoff, counted in calls instead of seconds."""

from __future__ import annotations

from dataclasses import dataclass

MAX_PERIOD = 256


@dataclass(slots=True)
class ExponentialBackoff:
    """Skips 2**failures - 1 calls after each failure, at most 255."""

    failures: int = 0
    skips_left: int = 0

    def should_try(self) -> bool:
        """Call once per rendering, probe or trial: it counts down."""
        if self.skips_left == 0:
            return True
        self.skips_left -= 1
        return False

    def fail(self) -> None:
        self.skips_left = min(2**self.failures, MAX_PERIOD) - 1
        self.failures += 1

    def succeed(self) -> None:
        """Resets the failures; a wait that has begun goes on."""
        self.failures = 0
