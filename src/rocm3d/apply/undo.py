"""Undo: restores the tree before the first apply, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

from rocm3d.model.errors import UserError
from rocm3d.workspace.journal import UndoJournal, digest
from rocm3d.workspace.writer import Writer


@dataclass(frozen=True)
class UndoResult:
    """Restored paths, and paths that were not restored because they changed after apply."""

    restored: tuple[str, ...]
    left_changed: tuple[str, ...]


def changed_since(journal: UndoJournal) -> list[str]:
    """Paths whose content is neither what apply wrote nor what was there before it."""
    changed = []
    for path, entry in journal.entries.items():
        file = journal.root / path
        current = digest(file.read_bytes()) if file.is_file() and not file.is_symlink() else None
        if current not in (entry.before, entry.after, entry.previous or entry.after):
            changed.append(path)
    return changed


def undo(journal: UndoJournal, writer: Writer, *, keep_changed: bool) -> UndoResult:
    """Restore every original. Files that changed after apply are never overwritten."""
    changed = changed_since(journal)
    if changed and not keep_changed:
        raise UserError(
            f"changed after apply: {', '.join(changed[:5])} ({len(changed)} in total)",
            hint="restore only the other files: --keep-changed",
        )
    restored = [path for path in journal.entries if path not in changed]
    for path in restored:
        writer.restore(path, journal.original(path))
    folders = {folder for entry in journal.entries.values() for folder in entry.folders}
    for folder in sorted(folders, key=len, reverse=True):
        writer.remove_empty(folder)
    journal.delete()
    return UndoResult(tuple(restored), tuple(changed))
