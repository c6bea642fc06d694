"""What a tree was before rocm3d changed it: enough to go back byte for byte, even after a crash."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from rocm3d.model.failure import UserError
from rocm3d.workspace.state import FOLDER, state_folder


def digest(content: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


@dataclass
class Entry:
    """One changed file: digests before (None: was not there) and after, and the folders made for it."""

    before: str | None
    after: str
    folders: list[str] = field(default_factory=list)


@dataclass
class Journal:
    """PATH/.rocm3d/undo/: originals by digest, and journal.json. Written and synced before each change."""

    root: Path
    entries: dict[str, Entry]

    @classmethod
    def open(cls, root: Path) -> Journal:
        """The journal of a tree; empty where nothing was applied."""
        path = root / FOLDER / "undo" / "journal.json"
        if not path.is_file():
            return cls(root, {})
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(root, {name: Entry(**entry) for name, entry in raw["entries"].items()})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"{path} is damaged: {error}", hint="restore the tree from git") from error

    @property
    def folder(self) -> Path:
        """Where the originals lie."""
        return self.root / FOLDER / "undo"

    def record(self, path: str, before: bytes | None, after: bytes, folders: list[str]) -> None:
        """Note a change that is about to happen. The oldest original of a path is kept: undo goes all the way back."""
        known = self.entries.get(path)
        if known is None:
            if before is not None:
                self._keep(before)
            self.entries[path] = Entry(None if before is None else digest(before), digest(after), folders)
        else:
            self.entries[path] = Entry(known.before, digest(after), known.folders)
        self._save()

    def original(self, path: str) -> bytes | None:
        """The bytes a path had before the first change; None if it was not there."""
        before = self.entries[path].before
        if before is None:
            return None
        content = (self.folder / before).read_bytes()
        if digest(content) != before:
            raise UserError(f"the kept original of {path} is damaged", hint="restore the tree from git")
        return content

    def forget(self) -> None:
        """Empty the journal: the tree is back where it was."""
        for entry in self.entries.values():
            if entry.before is not None:
                (self.folder / entry.before).unlink(missing_ok=True)
        self.entries = {}
        (self.folder / "journal.json").unlink(missing_ok=True)
        if self.folder.is_dir():
            self.folder.rmdir()

    def _keep(self, content: bytes) -> None:
        self._write(digest(content), content)

    def _save(self) -> None:
        raw = {"entries": {path: vars(entry) for path, entry in sorted(self.entries.items())}}
        self._write("journal.json", json.dumps(raw, indent=2).encode())

    def _write(self, name: str, content: bytes) -> None:
        temporary = self.folder / f"{name}.new"
        try:
            state_folder(self.root)
            self.folder.mkdir(exist_ok=True)
            with temporary.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(self.folder / name)
        except OSError as error:
            raise UserError(
                f"cannot write {self.folder}: {error.strerror}", hint="use --into DIR for a ported copy"
            ) from error
