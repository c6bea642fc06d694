"""Reads and writes the documents of a repository: one file per stage in its work folder."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d.model.base import Document

D = TypeVar("D", bound="Document")
_PIECE = 1024 * 1024

# Keyed by class name, so that a stage imports only the models that it reads or writes.
FILES = {
    "Scan": ("inventory.json", "scan"),
    "Plan": ("plan.json", "plan"),
    "Patch": ("patch.json", "apply"),
    "Verdicts": ("verdicts.json", "verify"),
    "Evidence": ("evidence.json", "report"),
}


@dataclass(frozen=True)
class Documents:
    """Reads and writes stage documents in one folder."""

    folder: Path

    def path(self, kind: type[Document]) -> Path:
        """The path of a document, which may not exist yet."""
        return self.folder / FILES[kind.__name__][0]

    def write(self, document: Document) -> Path:
        """Write a document atomically."""
        return self.write_text(self.path(type(document)), document.to_json())

    def write_text(self, place: Path, text: str) -> Path:
        """Write a text file in the work folder atomically."""
        return self._put(place, lambda temporary: write_pieces(temporary, text))

    def write_bytes(self, place: Path, data: bytes) -> Path:
        """Write a binary file in the work folder atomically."""
        return self._put(place, lambda temporary: temporary.write_bytes(data))

    @staticmethod
    def _put(place: Path, write: Callable[[Path], object]) -> Path:
        try:
            put_whole(place, write)
        except OSError as error:
            raise UserError(
                f"cannot write {place}: {error.strerror}", hint="pass another folder with --work"
            ) from error
        return place

    def find(self, kind: type[D]) -> D | None:
        """A document, or None if its stage has not run."""
        place = self.path(kind)
        if not place.is_file():
            return None
        try:
            text = place.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read {place}: {error}", hint="rerun the stage that writes it") from error
        return kind.from_json(text, str(place))

    def read(self, kind: type[D]) -> D:
        """A document. If it does not exist, UserError names the stage to run first."""
        found = self.find(kind)
        if found is None:
            name, stage = FILES[kind.__name__]
            raise UserError(f"{self.folder} has no {name}", hint=f"run `rocm3d {stage} PATH` first")
        return found


def put_whole(place: Path, write: Callable[[Path], object], *, durable: bool = False) -> None:
    """Write a file atomically: after a crash it is the old one or the new one. `durable`: also after a power loss."""
    # A random name: a symbolic link under a predictable name would redirect the write.
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="new-") as folder:
        temporary = Path(folder) / place.name
        write(temporary)
        if durable:
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
        temporary.replace(place)


def write_pieces(place: Path, text: str) -> None:
    """Write a text file without a second, encoded copy of it in memory."""
    with place.open("w", encoding="utf-8") as stream:
        for piece in pieces(text):
            stream.write(piece)


def pieces(text: str) -> Iterator[str]:
    """Split a text into chunks of 1 Mi characters."""
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
