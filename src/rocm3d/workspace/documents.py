"""The documents of a repository, one file for each stage, in its work folder."""

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

# By the name of the model, so that a stage loads only the documents that it reads or writes.
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
        """Where a document lies, or would."""
        return self.folder / FILES[kind.__name__][0]

    def write(self, document: Document) -> Path:
        """Put a document in its place, whole or not at all."""
        return self.write_text(self.path(type(document)), document.to_json())

    def write_text(self, place: Path, text: str) -> Path:
        """Put a text file in the work folder, whole or not at all."""
        return self._put(place, lambda temporary: write_pieces(temporary, text))

    def write_bytes(self, place: Path, data: bytes) -> Path:
        """The same for bytes."""
        return self._put(place, lambda temporary: temporary.write_bytes(data))

    @staticmethod
    def _put(place: Path, write: Callable[[Path], object]) -> Path:
        try:
            put_whole(place, write)
        except OSError as error:
            raise UserError(
                f"cannot write {place}: {error.strerror}", hint="name another folder with --work"
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
            raise UserError(f"{place} cannot be read: {error}", hint="run the stage that writes it again") from error
        return kind.from_json(text, str(place))

    def read(self, kind: type[D]) -> D:
        """A document, or one line saying which stage to run first."""
        found = self.find(kind)
        if found is None:
            name, stage = FILES[kind.__name__]
            raise UserError(f"{self.folder} has no {name}", hint=f"run `rocm3d {stage} PATH` first")
        return found


def put_whole(place: Path, write: Callable[[Path], object], *, durable: bool = False) -> None:
    """The old file or the new one, whatever happens; `durable`: a loss of power included."""
    # A name nobody can foresee: a link waiting under a fixed one would lead the write out.
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="new-") as folder:
        temporary = Path(folder) / place.name
        write(temporary)
        if durable:
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
        temporary.replace(place)


def write_pieces(place: Path, text: str) -> None:
    """Write a text file without a second copy of all of it in memory, which a large one would be."""
    with place.open("w", encoding="utf-8") as stream:
        for piece in pieces(text):
            stream.write(piece)


def pieces(text: str) -> Iterator[str]:
    """A text in parts of a size to be handed on."""
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
