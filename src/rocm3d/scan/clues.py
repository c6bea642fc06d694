"""Findings that take two files: a hit in one counts where another gives the clue that it waits for, or gives none."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocm3d.model.finding import Finding
    from rocm3d.scan.file import FileResult

_CENTRAL = re.compile(r"(?i)(^|/)(models?|networks?|modules?)(/|\.py$)")


def confirmed(results: Sequence[FileResult]) -> Iterator[Finding]:
    """For each clue that some file gives, the one waiting finding that stands nearest to such a file.

    What a file told by itself, without a clue, needs no second telling for the same package. What waits for nobody to
    speak against it is told wherever it stands.
    """
    given: dict[str, list[str]] = {}
    waiting: dict[str, list[Finding]] = {}
    for result in results:
        for clue in result.clues:
            given.setdefault(clue, []).append(result.path)
        for item in (item for item in result.waiting if item.clue):
            waiting.setdefault(item.clue, []).append(item.finding)
    for item in (item for result in results for item in result.waiting if item.unless):
        if item.unless not in given:
            yield item.finding
    told = {(finding.code, finding.package) for result in results for finding in result.findings}
    places: set[tuple[str, str, int]] = set()
    for clue in (clue for clue in waiting if clue in given):
        best = max(waiting[clue], key=lambda finding: _nearness(finding, given[clue]))
        place = (best.code, best.path, best.line)
        if place not in places and (best.code, best.package) not in told:
            places.add(place)
            yield best


def _nearness(finding: Finding, others: Iterable[str]) -> tuple[bool, int, bool, int]:
    """What counts: the program before what stands beside it, shared folders, where models are made, a short path."""
    path = PurePosixPath(finding.path)
    shared = max(_shared(path.parts[:-1], PurePosixPath(other).parts[:-1]) for other in others)
    return finding.severity != "note", shared, bool(_CENTRAL.search(finding.path)), -len(path.parts)


def _shared(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
