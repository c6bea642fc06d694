"""Findings by family, most blocking first, and verdicts by level. A level that was not run has not passed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, get_args

from rocm3d.model.counted import counted
from rocm3d.model.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rocm3d.model.finding import Finding, Severity
    from rocm3d.model.verdict import Outcome, Verdict

Item = TypeVar("Item")
Key = TypeVar("Key")

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
NO_FAMILY = "other"
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


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by key; keys and items keep their order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True)
class FamilyGroup:
    """The findings of one family, errors first, otherwise in the order of the repository."""

    family: str
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> str:
        """Such as `2 errors, 1 note`."""
        return severity_counts(self.findings)


def severity_counts(findings: Iterable[Finding]) -> str:
    """Such as `2 errors, 1 note`; severities without findings are left out."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(counted(counts[word], word) for word in SEVERITIES if counts[word])


def group_by_family(findings: Iterable[Finding]) -> tuple[FamilyGroup, ...]:
    """Ordered by number of errors, then warnings, then notes. Findings without a family are `other`."""
    groups = (
        FamilyGroup(name, tuple(sorted(items, key=lambda finding: SEVERITIES.index(finding.severity))))
        for name, items in group_by(findings, lambda finding: finding.family or NO_FAMILY).items()
    )
    return tuple(sorted(groups, key=_blocking_rank))


def _blocking_rank(group: FamilyGroup) -> tuple[list[int], str]:
    counts = Counter(finding.severity for finding in group.findings)
    return [-counts[word] for word in SEVERITIES], group.family


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
    by_level = group_by(verdicts, lambda verdict: verdict.level)
    return tuple(_level_summary(level, by_level.get(level, [])) for level in get_args(Level))


def _level_summary(level: Level, verdicts: list[Verdict]) -> LevelSummary:
    by_outcome = group_by(verdicts, lambda verdict: verdict.outcome)
    outcome: Outcome = next((word for word in _WORST_FIRST if word in by_outcome), "not_run")
    with_outcome, passed = by_outcome.get(outcome, []), len(by_outcome.get("passed", []))
    if outcome == "passed":
        return LevelSummary(level, LEVEL_QUESTIONS[level], outcome, counted(passed, "check"))
    detail = "; ".join(dict.fromkeys(item.reason for item in with_outcome)) or "not requested"
    detail = f"{passed} passed, then: {detail}" if passed else detail
    return LevelSummary(level, LEVEL_QUESTIONS[level], outcome, detail)
