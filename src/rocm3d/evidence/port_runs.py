"""The runs of a port as evidence: digest of the bundle, outcome, and missing links of the chain."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rocm3d.evidence.folder import EVIDENCE_FILE, read
from rocm3d.evidence.run_bundles import RUNS_FOLDER, joined_runs
from rocm3d.model.bundle import ReportedRun, UnreadRun
from rocm3d.model.errors import UserError
from rocm3d.model.evidence import MissingLink, SealedRun
from rocm3d.model.run import RunRecord
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.tree import file_digest, source_digest

Joined = tuple[tuple[ReportedRun, ...], tuple[UnreadRun, ...]]


@dataclass(frozen=True)
class PortRun:
    """The entry for evidence.json, and the record of the run if its bundle is unchanged."""

    sealed: SealedRun
    record: RunRecord | None = None


def port_runs(documents: Documents, root: Path, joined: Joined | None = None) -> tuple[PortRun, ...]:
    """All runs in a work folder, oldest first; those without a record come last.

    Pass `joined` if it is known: computing it reads every file of every bundle.
    """
    runs, unread = joined or joined_runs(documents)
    current_digest = source_digest(root, written_paths(item.run for item in runs)) if runs else ""
    return (
        *(_port_run(item, documents.folder / RUNS_FOLDER, current_digest) for item in runs),
        *map(_unread_run, unread),
    )


def written_paths(runs: Iterable[RunRecord]) -> frozenset[str]:
    """Paths in the repository that runs wrote. They do not count as its source code."""
    return frozenset((PurePosixPath(run.manifest.folder) / item.path).as_posix() for run in runs for item in run.files)


def written_by_earlier_runs(documents: Documents) -> frozenset[str]:
    """Paths that stored runs wrote. Reads only their evidence.json, because it is called before every run."""
    runs_folder, runs = documents.folder / RUNS_FOLDER, list[RunRecord]()
    for folder in runs_folder.iterdir() if runs_folder.is_dir() else ():
        with contextlib.suppress(UserError):
            documents.read_bytes(f"{RUNS_FOLDER}/{folder.name}/{EVIDENCE_FILE}")
            runs += read(folder)[0].runs
    return written_paths(runs)


def _port_run(joined: ReportedRun, runs_folder: Path, current_digest: str) -> PortRun:
    run, recorded_digest = joined.run, joined.run.manifest.sources
    sealed = SealedRun(
        folder=joined.folder,
        sha256=file_digest(runs_folder / joined.folder / EVIDENCE_FILE),
        name=run.name,
        outcome=run.status,
        reason=run.reason or "; ".join(_unmet_expectations(run)),
        of_these_sources=recorded_digest == current_digest if recorded_digest and current_digest else None,
        missing=tuple(MissingLink(link=link.link, reason=link.what) for link in joined.chain.missing),
    )
    if not joined.altered:
        return PortRun(sealed, run)
    first = joined.altered[0]
    reason = f"{first.path}: {first.how} since it was sealed"
    return PortRun(sealed.model_copy(update={"outcome": "altered", "reason": reason}))


def _unmet_expectations(run: RunRecord) -> list[str]:
    return [f"not met: {item.expectation} (actual: {item.found})" for item in run.expectations if not item.met]


def _unread_run(unread: UnreadRun) -> PortRun:
    return PortRun(SealedRun(folder=unread.folder, outcome="unread", reason=unread.reason))
