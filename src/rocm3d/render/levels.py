"""Summarizes the verdicts of each level. A level that was not run has not passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from rocm3d.model.counted import counted
from rocm3d.model.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.verdict import Outcome, Verdict

LEVEL_QUESTIONS: dict[Level, str] = {
    "static": "Are the edits guarded and unchanged?",
    "resolve": "Does it install without changing the base?",
    "compile": "Does it compile to AMD machine code?",
    "nvidia": "Does nvcc still compile it?",
    "import": "Does each package import from the right place?",
    "backend": "Did the real kernels run?",
    "numerics": "Do the results agree with a reference?",
    "workload": "Did a bounded workload write a valid artifact?",
}
# The outcome of a level is its worst one: a single check that was not run leaves the question open.
_WORST_FIRST: tuple[Outcome, ...] = ("failed", "not_run", "passed", "skipped")
OUTCOME_SIGNS = {"passed": "\u2713", "failed": "\u2715", "skipped": "\u2212", "not_run": "\u25cb"}


@dataclass(frozen=True)
class LevelSummary:
    """`outcome` is that of the worst check; a level without checks was not run."""

    level: Level
    asks: str
    outcome: Outcome
    says: str

    @property
    def word(self) -> str:
        """The outcome as text."""
        return self.outcome.replace("_", " ")

    @property
    def sign(self) -> str:
        """The outcome as a symbol."""
        return OUTCOME_SIGNS[self.outcome]


def level_summaries(verdicts: Iterable[Verdict]) -> tuple[LevelSummary, ...]:
    """All levels, from the cheapest to the most expensive."""
    by_level: dict[Level, list[Verdict]] = {level: [] for level in get_args(Level)}
    for verdict in verdicts:
        by_level[verdict.level].append(verdict)
    return tuple(_level_summary(level, of_level) for level, of_level in by_level.items())


def _level_summary(level: Level, verdicts: list[Verdict]) -> LevelSummary:
    outcome: Outcome = next(
        (word for word in _WORST_FIRST if any(item.outcome == word for item in verdicts)), "not_run"
    )
    with_outcome = [item for item in verdicts if item.outcome == outcome]
    if outcome == "passed":
        detail = counted(len(with_outcome), "check")
    else:
        detail = "; ".join(dict.fromkeys(item.reason for item in with_outcome)) or "not requested"
        passed = sum(item.outcome == "passed" for item in verdicts)
        detail = f"{passed} passed, then: {detail}" if passed else detail
    return LevelSummary(level, LEVEL_QUESTIONS[level], outcome, detail)
