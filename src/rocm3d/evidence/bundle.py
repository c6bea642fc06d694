"""Seals the documents of a port and the files it changed; tells later whether any of them moved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocm3d.evidence.tally import tally
from rocm3d.model.evidence import Evidence, Missing, Sealed

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
    plan: Plan, patch: Patch, verdicts: Verdicts, documents: Mapping[str, bytes], made: datetime, machine: str
) -> Evidence:
    """`documents` are the stage files by name, as they lie."""
    return Evidence(
        repository=plan.repository,
        made=made,
        machine=machine,
        gpu=plan.gpu,
        documents=tuple(_seal(name, data) for name, data in sorted(documents.items())),
        files=tuple(Sealed(path=change.path, sha256=change.after) for change in patch.changes),
        verdicts=verdicts.verdicts,
        tally=tally(plan, patch, verdicts),
        missing=tuple(_missing(verdicts)),
    )


def moved(evidence: Evidence, documents: Mapping[str, bytes | None]) -> list[str]:
    """Names of sealed documents that are gone or no longer what they were."""
    return [item.path for item in evidence.documents if not _same(item, documents.get(item.path))]


def _same(item: Sealed, data: bytes | None) -> bool:
    return data is not None and hashlib.sha256(data).hexdigest() == item.sha256


def _seal(name: str, data: bytes) -> Sealed:
    return Sealed(path=name, sha256=hashlib.sha256(data).hexdigest())


def _missing(verdicts: Verdicts) -> list[Missing]:
    found = []
    for level, what in CHAIN.items():
        of_level = [item for item in verdicts.verdicts if item.level == level]
        if not any(item.outcome == "passed" for item in of_level):
            reason = "; ".join(item.reason for item in of_level if item.reason) or "was not asked for"
            found.append(Missing(link=what, reason=reason))
    return found
