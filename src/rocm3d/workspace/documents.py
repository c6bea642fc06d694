"""Reads and writes the documents of a repository: one file per stage in its work folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rocm3d.model.errors import UserError
from rocm3d.workspace.interrupts import delayed_interrupts
from rocm3d.workspace.seal import NoKeyError, is_sealed, seal_of
from rocm3d.workspace.state import work_folder
from rocm3d.workspace.tree import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d.model.base import Document

DocumentT = TypeVar("DocumentT", bound="Document")
_CHUNK_CHARACTERS = 1024 * 1024
MAX_BYTES = 256 * 1024 * 1024
SEALS_FOLDER = "seals"
_MAX_SEALS = 8  # of one name: after failed writes the present file is an older one
_RESERVE_FILE, _RESERVE_MARGIN = "reserve", 64 * 1024

# Keyed by class name, so that a stage imports only the models that it reads or writes.
DOCUMENT_FILES = {
    "Scan": ("inventory.json", "scan"),
    "Plan": ("plan.json", "plan"),
    "Patch": ("patch.json", "apply"),
    "Verdicts": ("verdicts.json", "verify"),
    "Evidence": ("evidence.json", "report"),
    "ReviewAnswers": ("review.json", "review"),
}


class Documents:
    """Reads and writes stage documents in one folder, as hostile input: a repository can contain such a folder.

    A document is believed if this user's rocm3d wrote it, which its seal in the folder `seals` shows, or if the user
    named its folder (`trusted`). A document that this process wrote is handed on in memory: its file is read, and
    parsed only if it was changed.
    """

    def __init__(self, folder: Path, *, trusted: bool = False) -> None:
        self.folder, self.trusted = folder, trusted
        self.ignored: list[Path] = []  # documents of somebody else that were not used
        self._written: dict[type[Document], tuple[str, Document]] = {}

    @classmethod
    def of(cls, root: Path, work: Path | None, *, create: bool = True) -> Documents:
        """The documents of a repository. Those in a folder that the user named, or in the cache, are trusted.

        Without `create` they are only read, and their folder may be missing.
        """
        folder = work_folder(root, work, create=create)
        return cls(folder, trusted=folder.parent != root or work is not None)

    def path(self, kind: type[Document]) -> Path:
        """The path of a document, which may not exist yet."""
        return self.folder / DOCUMENT_FILES[kind.__name__][0]

    def write(self, document: Document) -> Path:
        """Write a document atomically."""
        text = document.to_json()
        path = self.write_own(self.path(type(document)).name, text.encode("utf-8"))
        self._written[type(document)] = _digest(text), document
        return path

    def write_own(self, name: str, data: bytes) -> Path:
        """Write a file with its seal, so that `read_bytes` believes it later."""
        # Without a key, as with a read-only home, the document is still worth having; reading it says what is missing.
        with contextlib.suppress(NoKeyError):
            self._seal(name, data)
        return self.write_bytes(self.folder / name, data)

    def write_text(self, path: Path, text: str) -> Path:
        """Write a text file atomically, without a seal."""
        return self._write_atomically(path, lambda temporary: write_chunks(temporary, text))

    def write_bytes(self, path: Path, data: bytes) -> Path:
        """Write a binary file atomically, without a seal."""
        return self._write_atomically(path, lambda temporary: temporary.write_bytes(data))

    @staticmethod
    def _write_atomically(path: Path, write: Callable[[Path], object]) -> Path:
        try:
            write_atomically(path, write)
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}", hint="pass another folder with --work") from error
        return path

    def find(self, kind: type[DocumentT]) -> DocumentT | None:
        """A document, or None if its stage has not run. Raises UserError if somebody else wrote it."""
        data = self.read_bytes(DOCUMENT_FILES[kind.__name__][0])
        if data is None:
            return None
        path = str(self.path(kind))
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(f"cannot read {path}: {error}", hint="rerun the stage that writes it") from error
        digest, written = self._written.get(kind, ("", None))
        return written if isinstance(written, kind) and digest == _digest(text) else kind.from_json(text, path)

    def find_own(self, kind: type[DocumentT]) -> DocumentT | None:
        """A document that this user's rocm3d wrote; None also for one that somebody else wrote."""
        try:
            return self.find(kind)
        except ForeignFileError:
            if (path := self.path(kind)) not in self.ignored:
                self.ignored.append(path)
            return None

    def read(self, kind: type[DocumentT]) -> DocumentT:
        """A document. If it does not exist, UserError names the stage to run first."""
        document = self.find(kind)
        if document is None:
            name, stage = DOCUMENT_FILES[kind.__name__]
            raise UserError(f"{self.folder} has no {name}", hint=f"run `rocm3d {stage} PATH` first")
        return document

    def read_bytes(self, name: str) -> bytes | None:
        """A file of the work folder; None if it does not exist. Raises ForeignFileError if somebody else wrote it."""
        path = self.folder / name
        if self.folder.is_symlink() and not self.trusted:
            raise ForeignFileError(f"{self.folder} is a symlink; rocm3d does not follow it", hint="remove the link")
        try:
            data = read_regular(self.folder, name, MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            # ELOOP, for a link, reads "Too many levels of symbolic links".
            reason = "is a symlink" if path.is_symlink() else (error.strerror or str(error))
            raise UserError(f"cannot read {path}: {reason}", hint="rerun the stage that writes it") from error
        if len(data) > MAX_BYTES:
            raise UserError(f"cannot read {path}: larger than {MAX_BYTES >> 20} MiB", hint="rerun the stage")
        if not self.trusted and not self.is_own(name, data):
            raise ForeignFileError(
                f"{path} was changed, or was not written by you on this machine, so it is not used",
                hint=f"rerun the stage that writes it, or pass --work {self.folder} to use it",
            )
        return data

    @contextlib.contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """Occupy disk space during the block, for documents that are written right after it."""
        path = self.folder / _RESERVE_FILE
        try:
            try:
                self.write_bytes(path, b"\xff" * (size + _RESERVE_MARGIN))
            except UserError as error:
                raise UserError(f"{error.message}; nothing was changed", hint=error.hint) from error
            yield
        finally:
            path.unlink(missing_ok=True)

    def is_own(self, name: str, data: bytes) -> bool:
        """Whether this user's rocm3d wrote a file with this name and content."""
        return any(is_sealed(name, data, seal) for seal in self._stored_seals(name))

    def seal_existing(self, name: str) -> None:
        """Mark a file that this process has just written by other means as own."""
        with contextlib.suppress(NoKeyError):
            self._seal(name, read_regular(self.folder, name, MAX_BYTES))

    def _seal(self, name: str, data: bytes) -> None:
        """Store the seal before the file, beside those of earlier files: a crash in between leaves a valid pair."""
        seals = self.folder / SEALS_FOLDER / _seal_file(name)
        lines = [seal_of(name, data), *self._stored_seals(name)][:_MAX_SEALS]
        if seals.parent.is_symlink():
            raise UserError(f"{seals.parent} is a symlink; rocm3d does not write through it", hint="remove it")
        with contextlib.suppress(OSError):
            seals.parent.mkdir(exist_ok=True)
        self._write_atomically(seals, lambda temporary: temporary.write_text("\n".join(lines) + "\n", encoding="ascii"))

    def _stored_seals(self, name: str) -> list[str]:
        try:
            text = read_regular(self.folder, f"{SEALS_FOLDER}/{_seal_file(name)}", 4096)
        except OSError:
            return []
        return text.decode("ascii", "replace").split()[:_MAX_SEALS]


def _seal_file(name: str) -> str:
    return name.replace("/", "--")


class ForeignFileError(UserError):
    """A file that somebody else wrote, for example one that came with the repository."""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_atomically(path: Path, write: Callable[[Path], object], *, durable: bool = False) -> None:
    """Write a file atomically: after a crash it is the old one or the new one. `durable`: also after a power loss."""
    # A random name: a symbolic link under a predictable name would redirect the write.
    with delayed_interrupts(), tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as folder:
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
