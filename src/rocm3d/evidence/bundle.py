"""Seals the documents and runs of a port by digest, detects later changes, and counts what was done."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime

from rocm3d.model.evidence import Evidence, MissingLink, SealedFile, SealedRun, Tally
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdicts

# What a port must show, by level; a link without a passed verdict is listed as missing.
CHAIN_LINKS = {
    "compile": "AMD machine code of the extensions",
    "backend": "which backend ran",
    "workload": "an artifact of a bounded workload",
}


def seal_evidence(
    plan: Plan,
    patch: Patch,
    verdicts: Verdicts,
    documents: Mapping[str, bytes],
    created: datetime,
    machine: str,
    runs: Iterable[SealedRun] = (),
) -> Evidence:
    """`documents` are the bytes of the stage files by name; `runs` are the sealed runs of the port."""
    sealed_runs = tuple(runs)
    return Evidence(
        repository=plan.repository,
        made=created,
        machine=machine,
        gpu=plan.gpu,
        documents=tuple(_seal(name, data) for name, data in sorted(documents.items())),
        files=tuple(SealedFile(path=change.path, sha256=change.after) for change in patch.changes),
        verdicts=verdicts.verdicts,
        tally=tally(plan, patch, verdicts),
        missing=tuple(_missing_links(verdicts, sealed_runs)),
        sealed_runs=sealed_runs,
    )


def changed_since_sealed(
    evidence: Evidence, documents: Mapping[str, bytes | None], runs: Iterable[SealedRun] | None = None
) -> list[str]:
    """Names of sealed documents and runs that are missing or changed. `runs=None` leaves runs unchecked.

    Runs that were recorded later or were incomplete when the evidence was sealed do not count: they were not sealed.
    """
    changed_documents = [item.path for item in evidence.documents if not _is_unchanged(item, documents.get(item.path))]
    if runs is None:
        return changed_documents
    current_runs = {item.folder: (item.sha256, item.outcome) for item in runs}
    sealed = ((item.folder, (item.sha256, item.outcome)) for item in evidence.sealed_runs if item.sha256)
    return [*changed_documents, *(f"runs/{folder}" for folder, was in sealed if current_runs.get(folder) != was)]


def _is_unchanged(sealed: SealedFile, data: bytes | None) -> bool:
    return data is not None and hashlib.sha256(data).hexdigest() == sealed.sha256


def _seal(name: str, data: bytes) -> SealedFile:
    return SealedFile(path=name, sha256=hashlib.sha256(data).hexdigest())


def _missing_links(verdicts: Verdicts, runs: Iterable[SealedRun]) -> list[MissingLink]:
    missing = []
    for level, description in CHAIN_LINKS.items():
        of_level = [item for item in verdicts.verdicts if item.level == level]
        passed = any(item.outcome == "passed" for item in of_level)
        if passed and (level != "workload" or _has_artifact(runs)):
            continue
        reasons = [item.reason for item in of_level if item.reason] or ["" if passed else "not requested"]
        missing.append(MissingLink(link=description, reason="; ".join(reasons) or "no run of the current code has one"))
    return missing


def _has_artifact(runs: Iterable[SealedRun]) -> bool:
    """Whether a finished run of the current code wrote a valid artifact."""
    finished = (run for run in runs if run.outcome == "finished" and run.of_these_sources)
    return any("artifact" not in {item.link for item in run.missing} for run in finished)


def tally(plan: Plan, patch: Patch, verdicts: Verdicts) -> Tally:
    """Changed files; tasks; edits that were left out plus blocked packages; checks not run plus stubs."""
    blocked = sum(item.decision == "blocked" for item in plan.decisions)
    not_run = sum(item.outcome == "not_run" for item in verdicts.verdicts)
    return Tally(
        changed=len(patch.changes),
        left_for_person=len(patch.tasks),
        rejected=len(patch.left_out) + blocked,
        not_verified=not_run + len(plan.stubs),
    )
