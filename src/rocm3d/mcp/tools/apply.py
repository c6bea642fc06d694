"""apply: make the planned edits and add the files of the port."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.arguments import Edits, NotEdits, PlanHash, RepositoryPath, SafeOnly
from rocm3d.mcp.tool_context import document_path
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext
    from rocm3d.model.patch import Patch

TITLE = "Apply a plan"
POSITION = 30
PATHS = ("path", "into")
CHANGES = True


class Arguments(Record):
    """As `rocm3d apply PATH --safe-only --only --skip --into --yes --format json`, with the hash of the plan."""

    path: RepositoryPath
    plan_hash: PlanHash
    safe_only: SafeOnly = False
    only: Edits = ()
    skip: NotEdits = ()
    into: Annotated[
        str | None, Field(min_length=1, description="Port a copy in this new folder; the repository is not changed.")
    ] = None
    yes: Annotated[
        bool, Field(description="Edit in place although the repository is not in git; `undo` restores every file.")
    ] = False


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Make the edits of the plan with this hash: new files and guarded edits. NVIDIA builds see the same code (proven).

    Refuses if the plan or the repository has changed since. Works in place on a clean git tree, or on a copy (`into`);
    without git it needs `yes`.
    `undo` restores every byte, also after a cancelled call.
    """
    from rocm3d.mcp.reviewed_plan import reviewed_plan
    from rocm3d.model.patch import Patch
    from rocm3d.pipeline import COMMIT, ApplyOptions, EditSelection

    in_place = arguments.into is None
    repository = context.repository(
        arguments.path, needs_git=in_place and not arguments.yes, reads_only=arguments.into is not None
    )
    with repository.locked("apply") if in_place else nullcontext(), ExitStack() as copies:
        plan = reviewed_plan(repository, arguments.plan_hash, context.progress)
        choice = EditSelection.from_options(arguments.only, arguments.skip, repository.knowledge)
        target = repository
        if arguments.into is not None:
            target = copies.enter_context(repository.copy_into(Path(arguments.into)))
        target.documents.write(plan)
        document = target.apply(plan, ApplyOptions(arguments.safe_only, selection=choice))
        state = target.state()
    is_proven = all(change.proof.holds for change in (*document.changes, *document.edited))
    return tool_response(
        document.model_dump(mode="json"),
        f"{patch_summary(document)} {COMMIT}, next to the document, has the whole port for `git am`. Next: `verify`.",
        exit_code=int(not is_proven),
        kept_in=document_path(target.documents, Patch),
        state=state,
    )


def patch_summary(document: Patch) -> str:
    """The counts of a patch, without text of the repository."""
    added = sum(change.kind == "added" for change in document.changes)
    failed = sum(not change.proof.holds for change in (*document.changes, *document.edited))
    proofs = f"failed proofs: {failed}" if failed else "all proofs hold"
    return (
        f"Files added: {added}, files edited: {len(document.edited)}; {proofs}. Edits to read: {len(document.review)}, "
        f"see review of each change. Tasks for a person: {len(document.tasks)}, see tasks. Edits left out: "
        f"{len(document.left_out)}."
    )
