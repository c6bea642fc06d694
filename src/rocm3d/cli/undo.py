"""rocm3d undo: remove a port from a repository."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession

POSITION = 40
EXAMPLE = "Example: rocm3d undo ./gaussian-splatting"

TrustJournal = Annotated[
    bool, typer.Option("--trust-journal", help="Use a journal that was written on another machine or by another user.")
]
KeepChanged = Annotated[bool, typer.Option("--keep-changed", help="Keep files that were changed after apply.")]


def command(
    session: CliSession, path: options.Target, keep_changed: KeepChanged = False, trust_journal: TrustJournal = False
) -> None:
    """Restore the repository to its state before the first apply, byte for byte.

    A file that was changed after apply is never overwritten.
    """
    with session.repository(path, any_folder=True) as repository:
        undone = repository.undo(keep_changed=keep_changed, trust_journal=trust_journal)
    for name in undone.left_changed:
        session.print_status(f"kept: {name}")
    if undone.originals is not None:
        session.print_status(f"their originals are in {undone.originals}")
    session.print_status(f"{len(undone.restored)} file{'s' * (len(undone.restored) != 1)} restored")
