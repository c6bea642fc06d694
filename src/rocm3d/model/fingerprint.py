"""What makes two findings of two scans the same one, wherever its line has moved to."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.finding import Finding


def fingerprints(findings: Sequence[Finding]) -> tuple[str, ...]:
    """One for each finding, in the order given: a digest of rule, path, message and which of its like it is.

    Line and column only number the occurrences of the same message in the same file. A further one among them makes the
    last of them look new: how many are new is right, which one is not always.
    """
    found = [""] * len(findings)
    seen: Counter[tuple[str, str, str]] = Counter()
    for index in sorted(range(len(findings)), key=lambda at: (findings[at].line, findings[at].column)):
        key = _key(findings[index])
        found[index] = hashlib.sha256(json.dumps([*key, seen[key]]).encode()).hexdigest()[:32]
        seen[key] += 1
    return tuple(found)


def unknown(findings: Sequence[Finding], known: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are not among the known ones."""
    there = set(fingerprints(tuple(known)))
    return tuple(item for item, mark in zip(findings, fingerprints(findings), strict=True) if mark not in there)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.path, " ".join(unicodedata.normalize("NFC", finding.message).split())
