"""doctor: find problems of this machine, or of a saved snapshot of another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record
from rocm3d.model.errors import ExitCode

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext
    from rocm3d.model.condition import Diagnosis

TITLE = "Diagnose a machine"
POSITION = 85
PATHS = ("path", "snapshot")


class Arguments(Record):
    """As `rocm3d doctor --plan PATH --from SNAPSHOT --format json`."""

    path: Annotated[
        str | None, Field(min_length=1, description="A planned repository: check the machine for its plan.")
    ] = None
    snapshot: Annotated[
        str | None, Field(min_length=1, description="A file of `rocm3d doctor --save`. Default: this machine.")
    ] = None


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Check this machine, or a saved snapshot of another, for problems with AMD GPUs, torch, and a plan.

    Changes nothing. Each problem has the values that were read, why it matters, the remedy, whether that needs root or
    a reboot, and how to check it. A person decides about remedies.
    """
    from rocm3d.model.plan import Plan
    from rocm3d.pipeline import examine, read_snapshot, take_snapshot

    planned = (
        None if arguments.path is None else context.repository(arguments.path, any_folder=True).documents.read(Plan)
    )
    knowledge = context.load()
    context.progress("reading the machine")
    repository = None if arguments.path is None else Path(arguments.path)
    snapshot = (
        take_snapshot(None, knowledge, repository=repository)
        if arguments.snapshot is None
        else read_snapshot(Path(arguments.snapshot))
    )
    document = examine(snapshot, knowledge, planned)
    return tool_response(
        document.model_dump(mode="json"), _summary(document), exit_code=int(_exit_code(document)), source="machine"
    )


def _summary(document: Diagnosis) -> str:
    if document.lacks:
        return "This machine has no AMD GPU; nothing was checked."
    notes = len(document.problems) - len(document.faults)
    return (
        f"AMD GPUs: {len(document.gpus)}; problems: {len(document.faults)}; notes: {notes}; conditions without "
        f"problems: {len(document.fine)}; not checked: {len(document.unread)}; knowledge of {document.knowledge_date}."
    )


def _exit_code(document: Diagnosis) -> ExitCode:
    if document.lacks:
        return ExitCode.MACHINE
    return ExitCode.FINDINGS if document.faults else ExitCode.DONE
