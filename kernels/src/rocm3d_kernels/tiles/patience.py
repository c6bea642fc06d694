"""When to try again what was in vain: after each time twice as many renderings as before."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 256


@dataclass(slots=True)
class Patience:
    """Of one kind of scene."""

    in_vain: int = 0
    wait: int = 0

    def ready(self) -> bool:
        """Whether it is time for a try; asked once in a rendering."""
        if self.wait == 0:
            return True
        self.wait -= 1
        return False

    def fail(self) -> None:
        """It was in vain."""
        self.wait = min(2**self.in_vain, LONGEST) - 1
        self.in_vain += 1

    def succeed(self) -> None:
        """The next time in vain is the first again."""
        self.in_vain = 0
