"""scan: find code and dependencies that need CUDA."""

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
    """Find code and dependencies in a repository that need CUDA.

    Read-only: executes nothing of the repository. Files that were not read are listed with the reason.
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
    skipped = f" Files not read: {len(inventory.skipped)}, see inventory.skipped." if inventory.skipped else ""
    return (
        f"readiness {inventory.readiness}. Errors: {found['error']}, warnings: {found['warning']}, notes: "
        f"{found['note']}. Files: {inventory.counts.files}, dependencies: {len(inventory.dependencies)}.{skipped} "
        "Next: `plan`."
    )
