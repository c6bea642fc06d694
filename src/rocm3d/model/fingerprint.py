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
    digests = [""] * len(findings)
    occurrences: Counter[tuple[str, str, str]] = Counter()
    for index in sorted(
        range(len(findings)), key=lambda position: (findings[position].line, findings[position].column)
    ):
        key = _key(findings[index])
        digests[index] = hashlib.sha256(json.dumps([*key, occurrences[key]]).encode()).hexdigest()[:32]
        occurrences[key] += 1
    return tuple(digests)


def new_findings(findings: Sequence[Finding], known: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings whose fingerprint no known finding has."""
    known_digests = set(fingerprints(tuple(known)))
    return tuple(
        finding for finding, digest in zip(findings, fingerprints(findings), strict=True) if digest not in known_digests
    )


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.path, " ".join(unicodedata.normalize("NFC", finding.message).split())
