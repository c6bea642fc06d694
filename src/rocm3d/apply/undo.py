"""Undo: restores the tree before the first apply, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.journal import UndoJournal
from rocm3d.workspace.writer import Writer


@dataclass(frozen=True)
class UndoResult:
    """Restored paths, and paths that were not restored because they changed after apply.

    `originals` is the folder with the originals of the latter.
    """

    restored: tuple[str, ...]
    left_changed: tuple[str, ...]
    originals: Path | None = None


def changed_since(journal: UndoJournal) -> list[str]:
    """Paths whose content is neither what apply wrote nor what was there before it."""
    return [
        path
        for path, entry in journal.entries.items()
        if journal.current_digest(path) not in (entry.before, entry.after, entry.previous or entry.after)
    ]


def undo(journal: UndoJournal, writer: Writer, *, keep_changed: bool) -> UndoResult:
    """Restore every original. Files that changed after apply are never overwritten.

    The stored originals are deleted last, and only if the tree holds all of them.
    """
    changed = changed_since(journal)
    if changed and not keep_changed:
        raise UserError(
            f"changed after apply: {', '.join(changed[:5])} ({len(changed)} in total)",
            hint="restore only the other files: --keep-changed",
        )
    restored = tuple(path for path in journal.entries if path not in changed)
    originals = {path: journal.original(path) for path in restored}
    for path, content in originals.items():
        if journal.current_digest(path) != journal.entries[path].before:
            writer.restore(path, content)
    folders = {folder for entry in journal.entries.values() for folder in entry.folders}
    for folder in sorted(folders, key=len, reverse=True):
        writer.remove_empty(folder)
    damaged = [path for path in restored if journal.current_digest(path) != journal.entries[path].before]
    if damaged:
        raise UserError(
            f"{damaged[0]} does not have its original content after undo; the originals stay in {journal.folder}",
            hint="run `rocm3d undo` again when no other program writes to this folder",
        )
    if changed:
        return UndoResult(restored, tuple(changed), journal.retire())
    journal.delete()
    return UndoResult(restored, ())
