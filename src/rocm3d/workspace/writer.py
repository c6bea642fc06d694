"""The only module that changes a repository: atomic writes, each recorded in the undo journal first.

Copies a repository, so that the port does not change the original.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rocm3d.model.errors import UserError
from rocm3d.workspace.journal import UndoJournal
from rocm3d.workspace.state import STATE_FOLDER, state_folder

_HINT = "use --into DIR for a ported copy"


@dataclass(frozen=True)
class Writer:
    """Writes only below `root`. A crash leaves the old file or the new one, and undo handles both."""

    root: Path
    journal: UndoJournal

    def write(self, path: str, content: bytes) -> None:
        """Write a file at a relative path, after its previous content is stored in the journal."""
        target = self._checked_path(path)
        if target.exists() and not target.is_file():
            raise UserError(f"cannot write {target}: it exists and is not a regular file")
        try:
            before = target.read_bytes() if target.exists() else None
            if before == content:
                return
            self.journal.record(path, before, content, _missing_folders(self.root, target))
        except OSError as error:
            raise UserError(f"cannot write {target}: {error.strerror}", hint=_HINT) from error
        self._replace(target, content)

    def restore(self, path: str, content: bytes | None) -> None:
        """Restore the original content; None means that the file did not exist."""
        target = self._checked_path(path)
        if content is None:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                target.unlink()
        else:
            self._replace(target, content)

    def remove_empty(self, folder: str) -> None:
        """Remove a folder that a write created, if it is empty."""
        target = self._checked_path(folder)
        if target.is_dir() and not any(target.iterdir()):
            target.rmdir()

    def _checked_path(self, path: str) -> Path:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts:
            raise UserError(f"refusing to write {path!r}: it is outside the repository")
        target = self.root
        for part in parts:
            target = target / part
            if target.is_symlink():
                raise UserError(f"refusing to write {path!r}: {target.name} is a symlink")
        return target

    def _replace(self, target: Path, content: bytes) -> None:
        # The temporary file is in .rocm3d: same file system, and no stray file in the repository after a crash.
        temporary = None
        try:
            with tempfile.NamedTemporaryFile(dir=state_folder(self.root), prefix="write-", delete=False) as stream:
                temporary = Path(stream.name)
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
            temporary.replace(target)
        except OSError as error:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
            raise UserError(f"cannot write {target}: {error.strerror}", hint=_HINT) from error


def _missing_folders(root: Path, target: Path) -> list[str]:
    folders = (folder for folder in target.parents if folder.is_relative_to(root))
    return [folder.relative_to(root).as_posix() for folder in folders if not folder.exists()]


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def copy_tree(source: Path, into: Path) -> None:
    """Copy everything except .rocm3d. Symbolic links stay links; sockets and pipes are omitted."""
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise UserError(f"--into {into} already exists and is not empty", hint="pass a folder that does not exist yet")
    if into.resolve().is_relative_to(source.resolve()):
        raise UserError(f"--into {into} is inside the repository", hint="pass a folder outside of it")
    try:
        shutil.copytree(source, into, symlinks=True, ignore=_names_to_omit, dirs_exist_ok=True)
    except shutil.Error as error:
        first = error.args[0][0]
        raise UserError(f"cannot copy {first[0]}: {first[2]}", hint="make it readable or remove it") from error
    except OSError as error:
        raise UserError(f"cannot copy to {into}: {error.strerror}") from error


def _names_to_omit(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name == STATE_FOLDER or not _is_copyable(Path(folder) / name)}


def _is_copyable(path: Path) -> bool:
    mode = os.lstat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
