"""Reads and writes the documents of a repository: one file per stage in its work folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d.model.base import Document

DocumentT = TypeVar("DocumentT", bound="Document")
_CHUNK_CHARACTERS = 1024 * 1024

# Keyed by class name, so that a stage imports only the models that it reads or writes.
DOCUMENT_FILES = {
    "Scan": ("inventory.json", "scan"),
    "Plan": ("plan.json", "plan"),
    "Patch": ("patch.json", "apply"),
    "Verdicts": ("verdicts.json", "verify"),
    "Evidence": ("evidence.json", "report"),
}


class Documents:
    """Reads and writes stage documents in one folder.

    A document that this process wrote is handed on in memory: its file is read, and parsed only if it was changed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written: dict[type[Document], tuple[str, Document]] = {}

    def path(self, kind: type[Document]) -> Path:
        """The path of a document, which may not exist yet."""
        return self.folder / DOCUMENT_FILES[kind.__name__][0]

    def write(self, document: Document) -> Path:
        """Write a document atomically."""
        text = document.to_json()
        path = self.write_text(self.path(type(document)), text)
        self._written[type(document)] = _digest(text), document
        return path

    def write_text(self, path: Path, text: str) -> Path:
        """Write a text file in the work folder atomically."""
        return self._write_atomically(path, lambda temporary: write_chunks(temporary, text))

    def write_bytes(self, path: Path, data: bytes) -> Path:
        """Write a binary file in the work folder atomically."""
        return self._write_atomically(path, lambda temporary: temporary.write_bytes(data))

    @staticmethod
    def _write_atomically(path: Path, write: Callable[[Path], object]) -> Path:
        try:
            write_atomically(path, write)
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}", hint="pass another folder with --work") from error
        return path

    def find(self, kind: type[DocumentT]) -> DocumentT | None:
        """A document, or None if its stage has not run."""
        path = self.path(kind)
        if not path.is_file():
            return None
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read {path}: {error}", hint="rerun the stage that writes it") from error
        digest, written = self._written.get(kind, ("", None))
        return written if isinstance(written, kind) and digest == _digest(text) else kind.from_json(text, str(path))

    def read(self, kind: type[DocumentT]) -> DocumentT:
        """A document. If it does not exist, UserError names the stage to run first."""
        document = self.find(kind)
        if document is None:
            name, stage = DOCUMENT_FILES[kind.__name__]
            raise UserError(f"{self.folder} has no {name}", hint=f"run `rocm3d {stage} PATH` first")
        return document


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_atomically(path: Path, write: Callable[[Path], object], *, durable: bool = False) -> None:
    """Write a file atomically: after a crash it is the old one or the new one. `durable`: also after a power loss."""
    # A random name: a symbolic link under a predictable name would redirect the write.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as folder:
        temporary = Path(folder) / path.name
        write(temporary)
        if durable:
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
        temporary.replace(path)


def write_chunks(path: Path, text: str) -> None:
    """Write a text file without a second, encoded copy of it in memory."""
    with path.open("w", encoding="utf-8") as stream:
        for chunk in chunks(text):
            stream.write(chunk)


def chunks(text: str) -> Iterator[str]:
    """Split a text into chunks of 1 Mi characters."""
    return (text[start : start + _CHUNK_CHARACTERS] for start in range(0, len(text), _CHUNK_CHARACTERS))
