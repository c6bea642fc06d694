"""Findings that the repository hides, by its settings or by comments: counted by what hides them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d.model.inventory import COMMENTS, HiddenFinding, HiddenFindings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.finding import Finding
    from rocm3d.scan.selection import RuleSettings


def hidden_findings(
    every: Iterable[Finding], shown: Iterable[Finding], settings: RuleSettings | None
) -> tuple[HiddenFinding, ...]:
    """The findings of `every` that are not `shown`, whose severities may differ. Settings come before comments."""
    remaining = Counter(map(_identity, shown))
    hidden = []
    for finding in every:
        if remaining[_identity(finding)]:
            remaining[_identity(finding)] -= 1
            continue
        by_settings = settings is not None and settings.hides(finding.code, finding.rule)
        source = settings.source if settings is not None and by_settings else COMMENTS
        hidden.append(HiddenFinding(finding=finding, source=source))
    return tuple(hidden)


def count_hidden(hidden: Sequence[HiddenFinding], settings: RuleSettings | None) -> tuple[HiddenFindings, ...]:
    """One entry per source, settings first."""
    sources = dict.fromkeys(item.source for item in sorted(hidden, key=lambda item: item.source == COMMENTS))
    return tuple(_count(source, hidden, settings) for source in sources)


def _count(source: str, hidden: Sequence[HiddenFinding], settings: RuleSettings | None) -> HiddenFindings:
    severities = Counter(item.finding.severity for item in hidden if item.source == source)
    setting = settings.text if settings is not None and source != COMMENTS else ""
    return HiddenFindings(
        source=source,
        setting=setting,
        errors=severities["error"],
        warnings=severities["warning"],
        notes=severities["note"],
    )


def _identity(finding: Finding) -> tuple[str, str, int, int, str]:
    return finding.code, finding.path, finding.line, finding.column, finding.message
