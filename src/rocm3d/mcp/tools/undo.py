"""undo: take a port back."""

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
    keep_changed: Annotated[bool, Field(description="Leave files that were changed after apply as they are.")] = False


def work(asked: Arguments, bench: Bench) -> Answer:
    """Put the repository back as it was before the first `apply`, byte for byte.

    A file that somebody changed since is never overwritten.
    """
    undone = bench.repository(asked.path).undo(keep_changed=asked.keep_changed)
    return answer(
        {"restored": list(undone.restored), "kept": list(undone.kept)},
        f"{len(undone.restored)} files put back, {len(undone.kept)} left as they are.",
    )
