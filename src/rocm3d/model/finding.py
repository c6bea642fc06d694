"""A finding: code in a repository that needs attention on an AMD GPU. Its fingerprint is equal in two scans."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record

Severity = Literal["error", "warning", "note"]
"""error: will not build or run on AMD; warning: may be wrong or slow; note: for information, needs no change."""


class Location(Record):
    """Relative POSIX path, 1-based line, and 1-based column in characters."""

    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Finding(Record):
    """A diagnostic at a source location. The text comes from its rule."""

    code: str
    rule: str
    severity: Severity
    path: str
    line: int = Field(ge=1)
    column: int = Field(ge=1)
    message: str
    hint: str
    family: str | None = None
    package: str | None = None
    recipe: str | None = None

    @property
    def is_dependency(self) -> bool:
        """Whether it is about an installed package and not about source code."""
        return self.code.startswith("DEP")

    @property
    def location(self) -> Location:
        """Path, line and column as one value."""
        return Location(path=self.path, line=self.line, column=self.column)


def fingerprints(findings: Sequence[Finding]) -> tuple[str, ...]:
    """One digest per finding, in the same order, of rule, path, message and occurrence number.

    Line and column only number the occurrences of the same message in the same file. If one is inserted, the last of
    them counts as new: the number of new findings is right, but not always which one is new.
    """
    digests = [""] * len(findings)
    occurrences: Counter[tuple[str, str, str]] = Counter()
    for index, finding in sorted(enumerate(findings), key=lambda pair: (pair[1].line, pair[1].column)):
        key = finding.rule, finding.path, " ".join(unicodedata.normalize("NFC", finding.message).split())
        digests[index] = hashlib.sha256(json.dumps([*key, occurrences[key]]).encode()).hexdigest()[:32]
        occurrences[key] += 1
    return tuple(digests)


def new_findings(findings: Sequence[Finding], known: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings whose fingerprint no known finding has."""
    known_digests = set(fingerprints(tuple(known)))
    return tuple(
        finding for finding, digest in zip(findings, fingerprints(findings), strict=True) if digest not in known_digests
    )
