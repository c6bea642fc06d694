"""Seals the documents of a port and the files it changed; tells later whether any of them moved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rocm3d.evidence.tally import tally
from rocm3d.model.evidence import Evidence, Missing, Sealed, SealedRun

if TYPE_CHECKING:
    from datetime import datetime

    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import Plan
    from rocm3d.model.verdict import Verdicts

# The chain of a believable port; a link without a passed verdict is shown as missing.
CHAIN = {
    "compile": "AMD machine code of the extensions",
    "backend": "which backend really ran",
    "workload": "an artifact of a bounded workload",
}


def bundle(
    plan: Plan,
    patch: Patch,
    verdicts: Verdicts,
    documents: Mapping[str, bytes],
    made: datetime,
    machine: str,
    runs: Iterable[SealedRun] = (),
) -> Evidence:
    """`documents` are the stage files by name, as they lie; `runs` those that are kept with them."""
    kept = tuple(runs)
    return Evidence(
        repository=plan.repository,
        made=made,
        machine=machine,
        gpu=plan.gpu,
        documents=tuple(_seal(name, data) for name, data in sorted(documents.items())),
        files=tuple(Sealed(path=change.path, sha256=change.after) for change in patch.changes),
        verdicts=verdicts.verdicts,
        tally=tally(plan, patch, verdicts),
        missing=tuple(_missing(verdicts, kept)),
        sealed_runs=kept,
    )


def moved(
    evidence: Evidence, documents: Mapping[str, bytes | None], runs: Iterable[SealedRun] | None = None
) -> list[str]:
    """Names of sealed documents and runs that are gone or no longer what they were; None: nobody looked at the runs.

    A run that was made since is none of them, nor one that was no whole bundle then: they were never sealed here.
    """
    gone = [item.path for item in evidence.documents if not _same(item, documents.get(item.path))]
    if runs is None:
        return gone
    now = {item.folder: (item.sha256, item.outcome) for item in runs}
    sealed = ((item.folder, (item.sha256, item.outcome)) for item in evidence.sealed_runs if item.sha256)
    return [*gone, *(f"runs/{folder}" for folder, was in sealed if now.get(folder) != was)]


def _same(item: Sealed, data: bytes | None) -> bool:
    return data is not None and hashlib.sha256(data).hexdigest() == item.sha256


def _seal(name: str, data: bytes) -> Sealed:
    return Sealed(path=name, sha256=hashlib.sha256(data).hexdigest())


def _missing(verdicts: Verdicts, runs: Iterable[SealedRun]) -> list[Missing]:
    found = []
    for level, what in CHAIN.items():
        of_level = [item for item in verdicts.verdicts if item.level == level]
        passed = any(item.outcome == "passed" for item in of_level)
        if passed and (level != "workload" or _has_artifact(runs)):
            continue
        reasons = [item.reason for item in of_level if item.reason] or ["" if passed else "was not asked for"]
        found.append(Missing(link=what, reason="; ".join(reasons) or "no run of this code has one"))
    return found


def _has_artifact(runs: Iterable[SealedRun]) -> bool:
    """Whether a run of the code as it is has left a sound one: a run alone may have passed by other values."""
    whole = (run for run in runs if run.outcome == "finished" and run.of_these_sources)
    return any("artifact" not in {item.link for item in run.missing} for run in whole)
