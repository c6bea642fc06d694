"""Findings that depend on two files: a match in one counts only if another file has, or lacks, a clue."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocm3d.model.finding import Finding
    from rocm3d.scan.file_scan import ConditionalFinding, FileResult

_CENTRAL = re.compile(r"(?i)(^|/)(models?|networks?|modules?)(/|\.py$)")


def confirmed_findings(results: Sequence[FileResult], *, with_silenced: bool = False) -> Iterator[Finding]:
    """The conditional findings whose condition holds; `with_silenced` also those that a comment hides.

    For each clue that occurs, only the finding nearest to a file with that clue is reported, and none if the same code
    already reports the package unconditionally. A finding with `unless` is reported if no file has that clue.
    """
    paths_by_clue: dict[str, list[str]] = {}
    waiting: dict[str, list[Finding]] = {}
    for result in results:
        for clue in result.clues:
            paths_by_clue.setdefault(clue, []).append(result.path)
        for pending in (pending for pending in _pending(result, with_silenced) if pending.clue):
            waiting.setdefault(pending.clue, []).append(pending.finding)
    for pending in (pending for result in results for pending in _pending(result, with_silenced) if pending.unless):
        if pending.unless not in paths_by_clue:
            yield pending.finding
    reported = {
        (finding.code, finding.package)
        for result in results
        for finding in (*result.findings, *(result.silenced if with_silenced else ()))
    }
    yielded: set[tuple[str, str, int]] = set()
    for clue in (clue for clue in waiting if clue in paths_by_clue):
        best = max(waiting[clue], key=lambda finding: _nearness(finding, paths_by_clue[clue]))
        position = (best.code, best.path, best.line)
        if position not in yielded and (best.code, best.package) not in reported:
            yielded.add(position)
            yield best


def _pending(result: FileResult, with_silenced: bool) -> Iterator[ConditionalFinding]:
    return (pending for pending in result.waiting if with_silenced or not pending.silenced)


def _nearness(finding: Finding, clue_paths: Iterable[str]) -> tuple[bool, int, bool, int]:
    """Sort key: the program before auxiliary files, then shared folders, model code, and short paths."""
    path = PurePosixPath(finding.path)
    shared = max(_shared_folders(path.parts[:-1], PurePosixPath(other).parts[:-1]) for other in clue_paths)
    return finding.severity != "note", shared, bool(_CENTRAL.search(finding.path)), -len(path.parts)


def _shared_folders(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
