"""The ladder of proof: each level of checks, what it asks, and how far it got. Not run is not passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from rocm3d.model.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.verdict import Outcome, Verdict

ASKS: dict[Level, str] = {
    "static": "Are the edits guarded, and as they were made?",
    "resolve": "Does it install without touching the base?",
    "compile": "Does AMD machine code come out?",
    "nvidia": "Does nvcc still compile all of it?",
    "import": "Does each package import from the right place?",
    "backend": "Did the real kernels run?",
    "numerics": "Do the numbers agree with a reference?",
    "workload": "Did a bounded workload give a sound artifact?",
}
# The worst one speaks for the level: one check that nobody made leaves the question open.
_WORST: tuple[Outcome, ...] = ("failed", "not_run", "passed", "skipped")
SIGNS = {"passed": "\u2713", "failed": "\u2715", "skipped": "\u2212", "not_run": "\u25cb"}


@dataclass(frozen=True)
class Rung:
    """One level. `outcome` is that of its worst check; a level without any was not run."""

    level: Level
    asks: str
    outcome: Outcome
    says: str

    @property
    def word(self) -> str:
        """As people write it."""
        return self.outcome.replace("_", " ")

    @property
    def sign(self) -> str:
        """The same without colour or words."""
        return SIGNS[self.outcome]


def rungs(verdicts: Iterable[Verdict]) -> tuple[Rung, ...]:
    """All levels, from the cheapest proof to the dearest."""
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
        says = "; ".join(dict.fromkeys(item.reason for item in of_it)) or "not asked for"
        passed = sum(item.outcome == "passed" for item in inside)
        says = f"{passed} passed, then: {says}" if passed else says
    return Rung(level, ASKS[level], outcome, says)
