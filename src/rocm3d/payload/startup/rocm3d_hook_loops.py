"""How long the steps of a program take: those of its optimizers, and those that a progress bar counts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

KEPT = 20_000
POINTS = 200


class Loops:
    """Seconds of every step by kind, the first ones kept; the very first stands apart, as it may compile."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.counts: dict[str, int] = {}
        self.last: dict[str, float] = {}

    def begin(self, kind: str) -> None:
        """The next step starts here."""
        self.last[kind] = time.perf_counter()

    def step(self, kind: str) -> None:
        """One more is done."""
        now, kept = time.perf_counter(), self.seconds.setdefault(kind, [])
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if len(kept) < KEPT:
            kept.append(now - self.last[kind])
        self.last[kind] = now

    def told(self) -> dict[str, Any]:
        """Of each kind: how many, the first, the median of the others, and some points for a plot."""
        return {kind: self._told(kind, list(values)) for kind, values in self.seconds.items()}

    def _told(self, kind: str, values: list[float]) -> dict[str, Any]:
        others = sorted(values[1:])
        every = max(1, -(-len(values) // POINTS))
        steady = others[len(others) // 2] if others else None
        about = {"count": self.counts[kind], "first": values[0], "steady": steady}
        return {**about, "points": values[::every], "every": every}

    def watch_optimizers(self) -> None:
        """Every step of every optimizer, where torch has the hook; the first is counted from here."""
        register = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_post_hook", None)
        if register is not None:
            self.begin("optimizer")
            register(lambda *_: self.step("optimizer"))

    def watch_bars(self, tqdm: Any) -> None:
        """Every loop over a progress bar. Loops within loops are counted with the inner ones."""
        iterate = tqdm.tqdm.__iter__

        def timed(bar: Any) -> Iterator[Any]:
            self.begin("progress bar")
            for item in iterate(bar):
                yield item
                self.step("progress bar")

        tqdm.tqdm.__iter__ = timed
