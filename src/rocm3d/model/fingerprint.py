"""Fingerprints of findings: equal in two scans even if the line has moved."""

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
    """One digest per finding, in the same order, of rule, path, message and occurrence number.

    Line and column only number the occurrences of the same message in the same file. If one is inserted, the last of
    them counts as new: the number of new findings is right, but not always which one is new.
    """
    found = [""] * len(findings)
    seen: Counter[tuple[str, str, str]] = Counter()
    for index in sorted(range(len(findings)), key=lambda at: (findings[at].line, findings[at].column)):
        key = _key(findings[index])
        found[index] = hashlib.sha256(json.dumps([*key, seen[key]]).encode()).hexdigest()[:32]
        seen[key] += 1
    return tuple(found)


def unknown(findings: Sequence[Finding], known: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings whose fingerprint no known finding has."""
    there = set(fingerprints(tuple(known)))
    return tuple(item for item, mark in zip(findings, fingerprints(findings), strict=True) if mark not in there)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.path, " ".join(unicodedata.normalize("NFC", finding.message).split())
