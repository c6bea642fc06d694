"""rocm3d undo: take a port back."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session

POSITION = 40
EXAMPLE = "Example: rocm3d undo ./gaussian-splatting"

KeepChanged = Annotated[
    bool, typer.Option("--keep-changed", help="Leave files that were changed after apply as they are.")
]


def command(session: Session, path: options.Target, keep_changed: KeepChanged = False) -> None:
    """Put the repository back as it was before the first apply, byte for byte.

    A file that somebody changed since is never overwritten.
    """
    with session.repository(path) as repository:
        undone = repository.undo(keep_changed=keep_changed)
    for name in undone.kept:
        session.say(f"left as it is: {name}")
    session.say(f"{len(undone.restored)} files put back")
