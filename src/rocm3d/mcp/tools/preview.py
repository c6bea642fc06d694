"""preview: show the diff that apply would make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.mcp.arguments import Edits, NotEdits, PlanHash, RepositoryPath, SafeOnly
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext

TITLE = "Preview a port"
POSITION = 25
PATHS = ("path",)


class Arguments(Record):
    """As `rocm3d apply PATH --dry-run --safe-only --only --skip --format json`."""

    path: RepositoryPath
    plan_hash: PlanHash
    safe_only: SafeOnly = False
    only: Edits = ()
    skip: NotEdits = ()


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Show the diff that `apply` would make for the plan with this hash, with its proofs. Writes nothing."""
    from rocm3d.mcp.reviewed_plan import reviewed_plan
    from rocm3d.mcp.tools.apply import patch_summary
    from rocm3d.pipeline import ApplyOptions, EditSelection

    repository = context.repository(arguments.path)
    plan = reviewed_plan(repository, arguments.plan_hash, context.progress)
    choice = EditSelection.from_options(arguments.only, arguments.skip, repository.knowledge)
    document = repository.apply(plan, ApplyOptions(arguments.safe_only, dry_run=True, selection=choice))
    is_proven = all(change.proof.holds for change in (*document.changes, *document.edited))
    return tool_response(
        document.model_dump(mode="json"),
        f"{patch_summary(document)} Nothing was written.",
        exit_code=int(not is_proven),
    )
