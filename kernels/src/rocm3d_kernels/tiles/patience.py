"""Exponential backoff, counted in renderings instead of seconds."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 256


@dataclass(slots=True)
class Patience:
    """Skips 2**failures - 1 renders after each failure, at most 255."""

    in_vain: int = 0
    wait: int = 0

    def ready(self) -> bool:
        """Call once per rendering: it counts down."""
        if self.wait == 0:
            return True
        self.wait -= 1
        return False

    def fail(self) -> None:
        self.wait = min(2**self.in_vain, LONGEST) - 1
        self.in_vain += 1

    def succeed(self) -> None:
        """Resets the failures; a wait that has begun goes on."""
        self.in_vain = 0
