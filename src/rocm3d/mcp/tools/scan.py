"""scan: what is CUDA-first in a repository."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d.mcp.answer import Answer, answer
from rocm3d.mcp.arguments import NotRules, Place, Rules
from rocm3d.mcp.bench import kept_in
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench
    from rocm3d.model.inventory import Scan

TITLE = "Scan a repository"
POSITION = 10
PATHS = ("path",)


class Arguments(Record):
    """As `rocm3d scan PATH --only --skip --format json`."""

    path: Place
    only: Rules = ()
    skip: NotRules = ()


def work(asked: Arguments, bench: Bench) -> Answer:
    """Find what is CUDA-first in a repository, where, and which family it belongs to.

    Reads only; nothing of the repository is executed. Files that were not read are listed with the reason.
    """
    from rocm3d.model.inventory import Scan

    opened = bench.opened(asked.path, asked.only, asked.skip)
    document = opened.scan()
    serious = any(finding.severity != "note" for finding in document.findings)
    return answer(
        document.model_dump(mode="json"),
        _summary(document),
        exit_code=int(serious),
        kept_in=kept_in(opened.documents, Scan),
    )


def _summary(document: Scan) -> str:
    found, inventory = Counter(finding.severity for finding in document.findings), document.inventory
    skipped = f" {len(inventory.skipped)} files were not read: see inventory.skipped." if inventory.skipped else ""
    return (
        f"readiness {inventory.readiness}: {found['error']} errors, {found['warning']} warnings, {found['note']} notes "
        f"in {inventory.counts.files} files, {len(inventory.dependencies)} dependencies.{skipped} Next: `plan`."
    )
