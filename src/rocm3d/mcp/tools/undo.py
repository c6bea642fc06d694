"""undo: remove a port from a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.answer import Answer, answer
from rocm3d.mcp.arguments import Place
from rocm3d.model.base import Record

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench

TITLE = "Undo a port"
POSITION = 40
PATHS = ("path",)
CHANGES = True


class Arguments(Record):
    """As `rocm3d undo PATH --keep-changed`."""

    path: Place
    keep_changed: Annotated[bool, Field(description="Keep files that were changed after apply.")] = False


def work(asked: Arguments, bench: Bench) -> Answer:
    """Restore the repository to its state before the first `apply`, byte for byte.

    A file that was changed after `apply` is never overwritten.
    """
    undone = bench.repository(asked.path).undo(keep_changed=asked.keep_changed)
    return answer(
        {"restored": list(undone.restored), "kept": list(undone.left_changed)},
        f"Files restored: {len(undone.restored)}; files kept: {len(undone.left_changed)}.",
    )
