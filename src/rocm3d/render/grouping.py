"""Groups findings by family, most blocking first."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.finding import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
OTHER = "other"


@dataclass(frozen=True)
class Group:
    """The findings of one family, errors first, otherwise in the order of the repository."""

    family: str
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> str:
        """Such as `2 errors, 1 note`."""
        return counted(self.findings)


def counted(findings: Iterable[Finding]) -> str:
    """Such as `2 errors, 1 note`; severities without findings are left out."""
    found = Counter(finding.severity for finding in findings)
    return ", ".join(
        f"{found[word]} {word}{'' if found[word] == 1 else 's'}" for word in SEVERITIES if found[word]
    )  # fmt: skip


def by_family(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Ordered by number of errors, then warnings, then notes. Findings without a family are `other`."""
    gathered: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        gathered[finding.family or OTHER].append(finding)
    groups = (Group(name, tuple(sorted(items, key=_severity))) for name, items in gathered.items())
    return tuple(sorted(groups, key=_blocking))


def _severity(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _blocking(group: Group) -> tuple[int, int, int, str]:
    found = Counter(finding.severity for finding in group.findings)
    return -found["error"], -found["warning"], -found["note"], group.family
