"""scan: find code and dependencies that need CUDA."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d.mcp.arguments import Isolated, NotRules, RepositoryPath, Rules
from rocm3d.mcp.tool_context import document_path
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext
    from rocm3d.model.inventory import Scan

TITLE = "Scan a repository"
POSITION = 10
PATHS = ("path",)


class Arguments(Record):
    """As `rocm3d scan PATH --only --skip --isolated --format json`."""

    path: RepositoryPath
    only: Rules = ()
    skip: NotRules = ()
    isolated: Isolated = False


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Find code and dependencies in a repository that need CUDA.

    Read-only: executes nothing of the repository. Files that were not read are listed with the reason.
    """
    from rocm3d.model.inventory import Scan

    repository = context.repository(arguments.path, arguments.only, arguments.skip, isolated=arguments.isolated)
    document = repository.scan()
    has_problems = any(finding.severity != "note" for finding in document.findings)
    return tool_response(
        document.model_dump(mode="json"),
        _summary(document),
        exit_code=int(has_problems),
        kept_in=document_path(repository.documents, Scan),
    )


def _summary(document: Scan) -> str:
    counts, inventory = Counter(finding.severity for finding in document.findings), document.inventory
    skipped = f" Files not read: {len(inventory.skipped)}, see inventory.skipped." if inventory.skipped else ""
    unscanned = f" Not scanned: {len(inventory.unscanned)}, see inventory.unscanned." if inventory.unscanned else ""
    count = sum(item.count for item in inventory.hidden)
    hides = f" Findings that the repository hides: {count}, see inventory.hidden; `isolated` shows them."
    notes = f"{skipped}{unscanned}{hides if count else ''}"
    return (
        f"readiness {inventory.readiness}. Errors: {counts['error']}, warnings: {counts['warning']}, notes: "
        f"{counts['note']}. Files: {inventory.counts.files}, dependencies: {len(inventory.dependencies)}.{notes} "
        "Next: `plan`."
    )
