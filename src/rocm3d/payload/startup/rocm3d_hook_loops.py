"""Measures the steps of a program: optimizer steps, and iterations of tqdm progress bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

MAX_STEPS = 20_000
MAX_POINTS = 200


class Loops:
    """Seconds per step and kind. The first step is reported separately, because it may include compilation."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.counts: dict[str, int] = {}
        self.last: dict[str, float] = {}

    def begin(self, kind: str) -> None:
        """Start the clock of the next step."""
        self.last[kind] = time.perf_counter()

    def step(self, kind: str) -> None:
        """Count a finished step and start the next one."""
        now, steps = time.perf_counter(), self.seconds.setdefault(kind, [])
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if len(steps) < MAX_STEPS:
            steps.append(now - self.last[kind])
        self.last[kind] = now

    def summary(self) -> dict[str, Any]:
        """Per kind: count, first step, median of the others, and points for a plot (seconds)."""
        return {kind: self._summarise(kind, list(values)) for kind, values in self.seconds.items()}

    def _summarise(self, kind: str, values: list[float]) -> dict[str, Any]:
        others = sorted(values[1:])
        every = max(1, -(-len(values) // MAX_POINTS))
        steady = others[len(others) // 2] if others else None
        about = {"count": self.counts[kind], "first": values[0], "steady": steady}
        return {**about, "points": values[::every], "every": every}

    def watch_optimizers(self) -> None:
        """Count optimizer steps, if torch has the hook. The first step starts now."""
        register = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_post_hook", None)
        if register is not None:
            self.begin("optimizer")
            register(lambda *_: self.step("optimizer"))

    def watch_bars(self, tqdm: Any) -> None:
        """Count iterations of all progress bars; nested bars are counted together."""
        iterate = tqdm.tqdm.__iter__

        def timed(bar: Any) -> Iterator[Any]:
            self.begin("progress bar")
            for value in iterate(bar):
                yield value
                self.step("progress bar")

        tqdm.tqdm.__iter__ = timed
