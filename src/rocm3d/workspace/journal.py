"""The undo journal: original content of all changed files, so that undo restores every byte even after a crash."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm3d.model.errors import UserError
from rocm3d.workspace.state import STATE_FOLDER, state_folder


def digest(content: bytes) -> str:
    """Hexadecimal SHA-256."""
    return hashlib.sha256(content).hexdigest()


@dataclass
class JournalEntry:
    """One changed file: digests before (None: did not exist) and after, and the folders created for it."""

    before: str | None
    after: str
    folders: list[str] = field(default_factory=list)
    previous: str | None = None  # digest of the content on disk if we crashed before the latest write


@dataclass
class UndoJournal:
    """PATH/.rocm3d/undo/: originals by digest, and journal.json. Written and synced before each change."""

    root: Path
    entries: dict[str, JournalEntry]

    @classmethod
    def open(cls, root: Path) -> UndoJournal:
        """The journal of a tree; empty if nothing was applied."""
        path = root / STATE_FOLDER / "undo" / "journal.json"
        if path.parent.is_symlink() or path.parent.parent.is_symlink():
            raise UserError(f"{path.parent} is a symlink; rocm3d does not follow it", hint="remove the link")
        if not path.is_file():
            return cls(root, {})
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(root, {name: _parse_entry(entry) for name, entry in raw["entries"].items()})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UserError(f"{path} is damaged: {error}", hint="restore the tree from git") from error

    @property
    def folder(self) -> Path:
        """The folder of journal.json and the original contents."""
        return self.root / STATE_FOLDER / "undo"

    def record(self, path: str, before: bytes | None, after: bytes, folders: list[str]) -> None:
        """Record a change before it is made. The first original of a path stays, so that undo restores that one."""
        entry, current_digest = self.entries.get(path), None if before is None else digest(before)
        if entry is not None:
            self.entries[path] = JournalEntry(entry.before, digest(after), entry.folders, previous=current_digest)
        else:
            if before is not None:
                self._write(digest(before), before)
            self.entries[path] = JournalEntry(current_digest, digest(after), folders)
        self._save()

    def original(self, path: str) -> bytes | None:
        """The bytes of a path before its first change; None if it did not exist."""
        before = self.entries[path].before
        if before is None:
            return None
        try:
            content = (self.folder / before).read_bytes()
        except OSError:
            content = b""
        if digest(content) != before:
            raise UserError(f"the stored original of {path} is damaged", hint="restore the tree from git")
        return content

    def delete(self) -> None:
        """Delete the journal after the tree was restored."""
        self.entries = {}
        # journal.json first: as long as it exists, the originals must exist too.
        (self.folder / "journal.json").unlink(missing_ok=True)
        if self.folder.is_dir():
            shutil.rmtree(self.folder)

    def _save(self) -> None:
        raw = {"entries": {path: vars(entry) for path, entry in sorted(self.entries.items())}}
        self._write("journal.json", json.dumps(raw, indent=2).encode())

    def _write(self, name: str, content: bytes) -> None:
        try:
            state_folder(self.root)
            if self.folder.is_symlink():
                raise UserError(f"{self.folder} is a symlink; rocm3d does not write through it", hint="remove it")
            self.folder.mkdir(exist_ok=True)
            # A random name: a symbolic link under a predictable name would redirect the write.
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix="new-", delete=False) as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            Path(stream.name).replace(self.folder / name)
        except OSError as error:
            raise UserError(
                f"cannot write {self.folder}: {error.strerror}", hint="use --into DIR for a ported copy"
            ) from error


def _parse_entry(raw: dict[str, Any]) -> JournalEntry:
    """Validate an entry: a repository can contain a forged journal."""
    entry = JournalEntry(**raw)
    for value in (entry.before, entry.after, entry.previous):
        if value is not None and not re.fullmatch("[0-9a-f]{64}", value):
            raise ValueError(f"{value!r} is not a digest")
    if not isinstance(entry.after, str) or not isinstance(entry.folders, list):
        raise TypeError("an entry has a value of the wrong type")
    return entry
