"""Groups findings by family, most blocking first."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.finding import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
NO_FAMILY = "other"


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
    by_name: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_name[finding.family or NO_FAMILY].append(finding)
    groups = (FamilyGroup(name, tuple(sorted(items, key=_severity_rank))) for name, items in by_name.items())
    return tuple(sorted(groups, key=_blocking_rank))


def _severity_rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _blocking_rank(group: FamilyGroup) -> tuple[int, int, int, str]:
    counts = Counter(finding.severity for finding in group.findings)
    return -counts["error"], -counts["warning"], -counts["note"], group.family
