"""Summarizes the verdicts of each level. A level that was not run has not passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from rocm3d.model.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.verdict import Outcome, Verdict

ASKS: dict[Level, str] = {
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
_WORST: tuple[Outcome, ...] = ("failed", "not_run", "passed", "skipped")
SIGNS = {"passed": "\u2713", "failed": "\u2715", "skipped": "\u2212", "not_run": "\u25cb"}


@dataclass(frozen=True)
class Rung:
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
        return SIGNS[self.outcome]


def rungs(verdicts: Iterable[Verdict]) -> tuple[Rung, ...]:
    """All levels, from the cheapest to the most expensive."""
    found: dict[Level, list[Verdict]] = {level: [] for level in get_args(Level)}
    for verdict in verdicts:
        found[verdict.level].append(verdict)
    return tuple(_rung(level, inside) for level, inside in found.items())


def _rung(level: Level, inside: list[Verdict]) -> Rung:
    outcome: Outcome = next((word for word in _WORST if any(item.outcome == word for item in inside)), "not_run")
    of_it = [item for item in inside if item.outcome == outcome]
    if outcome == "passed":
        says = f"{len(of_it)} {'check' if len(of_it) == 1 else 'checks'}"
    else:
        says = "; ".join(dict.fromkeys(item.reason for item in of_it)) or "not requested"
        passed = sum(item.outcome == "passed" for item in inside)
        says = f"{passed} passed, then: {says}" if passed else says
    return Rung(level, ASKS[level], outcome, says)
