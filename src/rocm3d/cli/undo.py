"""rocm3d undo: remove a port from a repository."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession

POSITION = 40
EXAMPLE = "Example: rocm3d undo ./gaussian-splatting"

KeepChanged = Annotated[bool, typer.Option("--keep-changed", help="Keep files that were changed after apply.")]


def command(session: CliSession, path: options.Target, keep_changed: KeepChanged = False) -> None:
    """Restore the repository to its state before the first apply, byte for byte.

    A file that was changed after apply is never overwritten.
    """
    with session.repository(path) as repository:
        undone = repository.undo(keep_changed=keep_changed)
    for name in undone.left_changed:
        session.print_status(f"kept: {name}")
    session.print_status(f"{len(undone.restored)} file{'s' * (len(undone.restored) != 1)} restored")
