"""undo: remove a port from a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.arguments import RepositoryPath
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ToolContext

TITLE = "Undo a port"
POSITION = 40
PATHS = ("path",)
CHANGES = True


class Arguments(Record):
    """As `rocm3d undo PATH --keep-changed`."""

    path: RepositoryPath
    keep_changed: Annotated[bool, Field(description="Keep files that were changed after apply.")] = False


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Restore the repository to its state before the first `apply`, byte for byte.

    A file that was changed after `apply` is never overwritten.
    """
    undone = context.repository(arguments.path, any_folder=True).undo(keep_changed=arguments.keep_changed)
    return tool_response(
        {"restored": list(undone.restored), "kept": list(undone.left_changed)},
        f"Files restored: {len(undone.restored)}; files kept: {len(undone.left_changed)}.",
    )
