"""The only module that changes a repository: atomic writes, each recorded in the undo journal first."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.model.failure import UserError
from rocm3d.workspace.state import state_folder

if TYPE_CHECKING:
    from rocm3d.workspace.journal import Journal


_HINT = "use --into DIR for a ported copy"


@dataclass(frozen=True)
class Writer:
    """Writes only below `root`. A crash leaves the old file or the new one, and undo handles both."""

    root: Path
    journal: Journal

    def write(self, path: str, content: bytes) -> None:
        """Write a file at a relative path, after its previous content is stored in the journal."""
        place = self._inside(path)
        if place.exists() and not place.is_file():
            raise UserError(f"cannot write {place}: it exists and is not a regular file")
        try:
            before = place.read_bytes() if place.exists() else None
            if before == content:
                return
            self.journal.record(path, before, content, _missing_folders(self.root, place))
        except OSError as error:
            raise UserError(f"cannot write {place}: {error.strerror}", hint=_HINT) from error
        self._replace(place, content)

    def restore(self, path: str, content: bytes | None) -> None:
        """Restore the original content; None means that the file did not exist."""
        place = self._inside(path)
        if content is None:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                place.unlink()
        else:
            self._replace(place, content)

    def remove_empty(self, folder: str) -> None:
        """Remove a folder that a write created, if it is empty."""
        place = self._inside(folder)
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()

    def _inside(self, path: str) -> Path:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts:
            raise UserError(f"refusing to write {path!r}: it is outside the repository")
        place = self.root
        for part in parts:
            place = place / part
            if place.is_symlink():
                raise UserError(f"refusing to write {path!r}: {place.name} is a symlink")
        return place

    def _replace(self, place: Path, content: bytes) -> None:
        # The temporary file is in .rocm3d: same file system, and no stray file in the repository after a crash.
        temporary = None
        try:
            with tempfile.NamedTemporaryFile(dir=state_folder(self.root), prefix="write-", delete=False) as stream:
                temporary = Path(stream.name)
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary.chmod(place.stat().st_mode & 0o7777 if place.exists() else 0o666 & ~_umask())
            temporary.replace(place)
        except OSError as error:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
            raise UserError(f"cannot write {place}: {error.strerror}", hint=_HINT) from error


def _missing_folders(root: Path, place: Path) -> list[str]:
    missing = [folder for folder in place.parents if folder.is_relative_to(root) and not folder.exists()]
    return [folder.relative_to(root).as_posix() for folder in missing]


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
