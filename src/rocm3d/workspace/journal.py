"""The undo journal: original content of all changed files, so that undo restores every byte even after a crash.

A journal is used only if it has the seal of this user: a repository can contain a forged one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm3d.model.errors import UserError
from rocm3d.workspace.seal import is_sealed, seal_of
from rocm3d.workspace.state import STATE_FOLDER, state_folder
from rocm3d.workspace.tree import path_parts, read_regular

_JOURNAL_FILE = "journal.json"
_FOLDER = f"{STATE_FOLDER}/undo"
_PURPOSE = "undo journal"
_MAX_BYTES = 256 * 1024 * 1024


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


@dataclass(frozen=True)
class FileWrite:
    """One file that is about to be written; `before` is None if it does not exist, `folders` must be created for it."""

    path: str
    before: bytes | None
    after: bytes
    folders: tuple[str, ...] = ()


@dataclass
class UndoJournal:
    """PATH/.rocm3d/undo/: originals by digest, and journal.json. Written and synced before each change."""

    root: Path
    entries: dict[str, JournalEntry]

    @classmethod
    def open(cls, root: Path, *, trust: bool = False) -> UndoJournal:
        """The journal of a tree; empty if nothing was applied. `trust`: also one without the seal of this user."""
        path = root / _FOLDER / _JOURNAL_FILE
        if path.parent.is_symlink() or path.parent.parent.is_symlink():
            raise UserError(f"{path.parent} is a symlink; rocm3d does not follow it", hint="remove the link")
        try:
            text = read_regular(root, f"{_FOLDER}/{_JOURNAL_FILE}", _MAX_BYTES)
        except FileNotFoundError:
            return cls(root, {})
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}", hint=_REMOVE_HINT) from error
        try:
            raw = json.loads(text)
            entries = {name: _parse_entry(name, entry) for name, entry in raw["entries"].items()}
            seal = str(raw.get("seal", ""))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise UserError(f"{path} is damaged: {error}", hint="restore the tree from git") from error
        journal = cls(root, entries)
        if not trust and not is_sealed(_PURPOSE, journal._sealed_text(), seal):
            raise UserError(
                f"{path} was changed, or was not written by you on this machine, so it is not used", hint=_REMOVE_HINT
            )
        return journal

    @property
    def folder(self) -> Path:
        """The folder of journal.json and the original contents."""
        return self.root / _FOLDER

    def record(self, writes: Iterable[FileWrite]) -> None:
        """Record changes before they are made. The first original of a path stays, so that undo restores that one.

        If this fails, the journal is as before.
        """
        entries = dict(self.entries)
        new_originals: list[Path] = []
        try:
            for write in writes:
                entries[write.path] = self._entry(write, new_originals)
            self._save(entries)
        except UserError:
            for path in new_originals:
                path.unlink(missing_ok=True)
            self._remove_if_empty()
            raise
        self.entries = entries

    def _entry(self, write: FileWrite, new_originals: list[Path]) -> JournalEntry:
        known = self.entries.get(write.path)
        current_digest = None if write.before is None else digest(write.before)
        if known is not None:
            return JournalEntry(known.before, digest(write.after), known.folders, previous=current_digest)
        if write.before is not None and current_digest is not None:
            if not (self.folder / current_digest).exists():
                new_originals.append(self.folder / current_digest)
            self._write(current_digest, write.before)
        return JournalEntry(current_digest, digest(write.after), list(write.folders))

    def withdraw(self, entries: dict[str, JournalEntry]) -> None:
        """Return to earlier entries, after changes that were recorded have not been made."""
        if not entries:
            self.delete()
            return
        # Without space for it the present journal stays: its entries know the content before the change, too.
        with contextlib.suppress(UserError):
            self._save(entries)
            self.entries = dict(entries)

    def original(self, path: str) -> bytes | None:
        """The bytes of a path before its first change; None if it did not exist."""
        before = self.entries[path].before
        if before is None:
            return None
        try:
            content = read_regular(self.root, f"{_FOLDER}/{before}", _MAX_BYTES)
        except OSError:
            content = b""
        if digest(content) != before:
            raise UserError(f"the stored original of {path} is damaged", hint="restore the tree from git")
        return content

    def current_digest(self, path: str) -> str | None:
        """The digest of a file in the tree; None if it does not exist, "" if it is something else than a file."""
        try:
            return digest(read_regular(self.root, path, _MAX_BYTES))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return ""

    def delete(self) -> None:
        """Delete the journal and the originals. The tree must hold them."""
        self.entries = {}
        # journal.json first: as long as it exists, the originals must exist too.
        (self.folder / _JOURNAL_FILE).unlink(missing_ok=True)
        if self.folder.is_dir():
            shutil.rmtree(self.folder)

    def retire(self) -> Path:
        """End the journal, but keep the originals, because the tree does not hold all of them. Returns their folder."""
        numbers = (number for number in range(1, 1_000_000) if not (self._retired_folder(number)).exists())
        retired = self._retired_folder(next(numbers))
        self.folder.rename(retired)
        self.entries = {}
        return retired

    def _retired_folder(self, number: int) -> Path:
        return self.folder.with_name(f"undo-retired-{number}")

    def _sealed_text(self) -> bytes:
        return json.dumps({path: vars(entry) for path, entry in sorted(self.entries.items())}).encode()

    def _save(self, entries: dict[str, JournalEntry]) -> None:
        seal = seal_of(_PURPOSE, UndoJournal(self.root, entries)._sealed_text())
        raw = {"entries": {path: vars(entry) for path, entry in sorted(entries.items())}, "seal": seal}
        self._write(_JOURNAL_FILE, json.dumps(raw, indent=2).encode())

    def _write(self, name: str, content: bytes) -> None:
        temporary = None
        try:
            state_folder(self.root)
            if self.folder.is_symlink():
                raise UserError(f"{self.folder} is a symlink; rocm3d does not write through it", hint="remove it")
            self.folder.mkdir(exist_ok=True)
            # A random name: a symbolic link under a predictable name would redirect the write.
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix="new-", delete=False) as stream:
                temporary = Path(stream.name)
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(self.folder / name)
        except OSError as error:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
            raise UserError(
                f"cannot write {self.folder}: {error.strerror}; nothing was changed",
                hint="use --into DIR for a ported copy",
            ) from error

    def _remove_if_empty(self) -> None:
        with contextlib.suppress(OSError):
            self.folder.rmdir()


_REMOVE_HINT = (
    f"remove its {STATE_FOLDER}/undo, port a copy with --into DIR, "
    "or use it with `rocm3d undo PATH --trust-journal` if you wrote it elsewhere"
)


def _parse_entry(path: str, raw: dict[str, Any]) -> JournalEntry:
    """Validate an entry as hostile input."""
    entry = JournalEntry(**raw)
    for value in (entry.before, entry.after, entry.previous):
        if value is not None and not re.fullmatch("[0-9a-f]{64}", value):
            raise ValueError(f"{value!r} is not a digest")
    if not isinstance(entry.after, str) or not isinstance(entry.folders, list):
        raise TypeError("an entry has a value of the wrong type")
    for name in (path, *entry.folders):
        path_parts(name)
    return entry
