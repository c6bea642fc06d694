"""Undo: the tree as it was before the first apply, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.failure import UserError
from rocm3d.workspace.journal import digest

if TYPE_CHECKING:
    from rocm3d.workspace.journal import Journal
    from rocm3d.workspace.writer import Writer


@dataclass(frozen=True)
class Undone:
    """What was put back, and what was left because somebody changed it since."""

    restored: tuple[str, ...]
    kept: tuple[str, ...]


def changed_since(journal: Journal) -> list[str]:
    """Paths that are neither as apply left them nor as they were before it."""
    found = []
    for path, entry in journal.entries.items():
        place = journal.root / path
        now = digest(place.read_bytes()) if place.is_file() and not place.is_symlink() else None
        if now not in (entry.before, entry.after, entry.previous or entry.after):
            found.append(path)
    return found


def undo(journal: Journal, writer: Writer, *, keep_changed: bool) -> Undone:
    """Put every original back. Work of other people is never overwritten."""
    changed = changed_since(journal)
    if changed and not keep_changed:
        raise UserError(
            f"{len(changed)} file(s) were changed after apply: {', '.join(changed[:5])}",
            hint="--keep-changed leaves those as they are and puts the rest back",
        )
    restored = [path for path in journal.entries if path not in changed]
    for path in restored:
        writer.restore(path, journal.original(path))
    folders = {folder for entry in journal.entries.values() for folder in entry.folders}
    for folder in sorted(folders, key=len, reverse=True):
        writer.remove_empty(folder)
    journal.forget()
    return Undone(tuple(restored), tuple(changed))
