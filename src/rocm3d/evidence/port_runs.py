"""The runs of a port as evidence: digest of the bundle, outcome, and missing links of the chain."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.evidence.folder import NAME, read
from rocm3d.evidence.joined import FOLDER, joined_runs
from rocm3d.model.evidence import MissingLink, SealedRun
from rocm3d.model.failure import UserError
from rocm3d.model.run import RunRecord
from rocm3d.workspace.file_digest import file_digest
from rocm3d.workspace.sources import source_digest

if TYPE_CHECKING:
    from rocm3d.model.report import ReportedRun, UnreadRun

    Joined = tuple[tuple[ReportedRun, ...], tuple[UnreadRun, ...]]


@dataclass(frozen=True)
class PortRun:
    """The entry for evidence.json, and the record of the run if its bundle is unchanged."""

    sealed: SealedRun
    record: RunRecord | None = None


def port_runs(work: Path, root: Path, joined: Joined | None = None) -> tuple[PortRun, ...]:
    """All runs in a work folder, oldest first; those without a record come last.

    Pass `joined` if it is known: computing it reads every file of every bundle.
    """
    runs, unread = joined or joined_runs(work)
    now = source_digest(root, written(item.run for item in runs)) if runs else ""
    return (*(_run(item, work / FOLDER, now) for item in runs), *map(_unread, unread))


def written(runs: Iterable[RunRecord]) -> frozenset[str]:
    """Paths in the repository that runs wrote. They do not count as its source code."""
    return frozenset((PurePosixPath(run.manifest.folder) / item.path).as_posix() for run in runs for item in run.files)


def written_before(work: Path) -> frozenset[str]:
    """Paths that stored runs wrote. Reads only their evidence.json, because it is called before every run."""
    place, runs = work / FOLDER, list[RunRecord]()
    for folder in place.iterdir() if place.is_dir() else ():
        with contextlib.suppress(UserError):
            runs += read(folder)[0].runs
    return written(runs)


def _run(item: ReportedRun, place: Path, now: str) -> PortRun:
    run, known = item.run, item.run.manifest.sources
    sealed = SealedRun(
        folder=item.folder,
        sha256=file_digest(place / item.folder / NAME),
        name=run.name,
        outcome=run.status,
        reason=run.reason or "; ".join(_unmet(run)),
        of_these_sources=known == now if known and now else None,
        missing=tuple(MissingLink(link=link.link, reason=link.what) for link in item.chain.missing),
    )
    if not item.altered:
        return PortRun(sealed, run)
    first = item.altered[0]
    reason = f"{first.path}: {first.how} since it was sealed"
    return PortRun(sealed.model_copy(update={"outcome": "altered", "reason": reason}))


def _unmet(run: RunRecord) -> list[str]:
    return [f"not met: {item.expectation} (actual: {item.found})" for item in run.expectations if not item.met]


def _unread(item: UnreadRun) -> PortRun:
    return PortRun(SealedRun(folder=item.folder, outcome="unread", reason=item.reason))
