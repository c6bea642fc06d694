"""The only module that changes a repository: all files of a change are stored first, then moved into place.

Everything that needs disk space is written to .rocm3d before the first file of the repository changes. After that only
renames are left, and each is reversible.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.journal import FileWrite, UndoJournal
from rocm3d.workspace.state import STATE_FOLDER, state_folder
from rocm3d.workspace.tree import open_folder, path_parts, read_regular

_HINT = "use --into DIR for a ported copy"
_MAX_BYTES = 256 * 1024 * 1024
_STAGING_PREFIX = "write-"
_LEFTOVERS = (f"{_STAGING_PREFIX}*", "fetch-*")  # the second one of submodule_fetch


@dataclass(frozen=True)
class Writer:
    """Writes only below `root`, never into .git. A crash leaves each file old or new, and undo handles both."""

    root: Path
    journal: UndoJournal

    def write(self, contents: Mapping[str, bytes], progress: Callable[[str], object] = len) -> None:
        """Write files at relative paths: all of them, or none if an error is raised."""
        writes = [write for path, content in contents.items() if (write := self._planned(path, content)) is not None]
        if not writes:
            return
        earlier = dict(self.journal.entries)
        with self._staging_folder() as staging:
            self._stage(staging, writes)
            self.journal.record(writes)
            for number, write in enumerate(writes):
                progress(write.path)
                try:
                    self._move_into_place(staging, number, write)
                except OSError as error:
                    self._move_back(staging, writes[: number + 1])
                    self.journal.withdraw(earlier)
                    message = f"cannot write {self.root / write.path}: {error.strerror}; nothing was changed"
                    raise UserError(message, hint=_HINT) from error

    def restore(self, path: str, content: bytes | None) -> None:
        """Restore the original content; None means that the file did not exist."""
        *folders, name = self._checked_parts(path)
        try:
            if content is None:
                with open_folder(self.root, folders) as parent:
                    os.unlink(name, dir_fd=parent)
                return
            with self._staging_folder() as staging:
                _store(staging / "new", content, self._mode(path))
                with open_folder(self.root, folders, create=True) as parent:
                    os.replace(staging / "new", name, dst_dir_fd=parent)
                    os.fsync(parent)
        except (FileNotFoundError, NotADirectoryError):
            if content is not None:
                raise
        except OSError as error:
            message = f"cannot restore {self.root / path}: {error.strerror}"
            raise UserError(message, hint="free disk space, then run `rocm3d undo` again") from error

    def remove_empty(self, folder: str) -> None:
        """Remove a folder that a write created, if it is empty."""
        *folders, name = self._checked_parts(folder)
        with contextlib.suppress(OSError), open_folder(self.root, folders) as parent:
            os.rmdir(name, dir_fd=parent)

    def _planned(self, path: str, content: bytes) -> FileWrite | None:
        """The write, or None if the file has this content."""
        parts = self._checked_parts(path)
        try:
            before: bytes | None = read_regular(self.root, "/".join(parts), _MAX_BYTES)
        except FileNotFoundError:
            before = None
        except OSError as error:
            raise UserError(f"cannot write {self.root / path}: {error.strerror}; nothing was changed") from error
        folders = [self.root.joinpath(*parts[:count]) for count in range(1, len(parts))]
        missing = tuple(folder.relative_to(self.root).as_posix() for folder in folders if not folder.exists())
        if before is not None and len(before) == _MAX_BYTES:
            raise UserError(f"refusing to write {path!r}: the file has {_MAX_BYTES >> 20} MiB or more")
        return None if before == content else FileWrite("/".join(parts), before, content, missing)

    @contextlib.contextmanager
    def _staging_folder(self) -> Iterator[Path]:
        # In .rocm3d: the same file system, so that a rename is enough, and no stray file in the repository.
        try:
            folder = Path(tempfile.mkdtemp(dir=state_folder(self.root), prefix=_STAGING_PREFIX))
        except OSError as error:
            message = f"cannot write {self.root / STATE_FOLDER}: {error.strerror}; nothing was changed"
            raise UserError(message, hint=_HINT) from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _stage(self, staging: Path, writes: list[FileWrite]) -> None:
        for number, write in enumerate(writes):
            try:
                _store(staging / f"new-{number}", write.after, self._mode(write.path))
            except OSError as error:
                message = f"cannot write {self.root / write.path}: {error.strerror}; nothing was changed"
                raise UserError(message, hint=_HINT) from error

    def _mode(self, path: str) -> int:
        try:
            return (self.root / path).lstat().st_mode & 0o7777
        except OSError:
            return 0o666 & ~_umask()

    def _move_into_place(self, staging: Path, number: int, write: FileWrite) -> None:
        *folders, name = path_parts(write.path)
        with open_folder(self.root, folders, create=True) as parent:
            if write.before is not None:
                # A second name for the old file, so that moving back needs no space. Some file systems have no links.
                with contextlib.suppress(OSError):
                    os.link(name, staging / f"old-{number}", src_dir_fd=parent, follow_symlinks=False)
            os.replace(staging / f"new-{number}", name, dst_dir_fd=parent)

    def _move_back(self, staging: Path, writes: Sequence[FileWrite]) -> None:
        """Take back all writes but the last one, which failed. Raises UserError if only undo can do that, later."""
        try:
            for number, write in enumerate(writes[:-1]):
                if (staging / f"old-{number}").exists():
                    *folders, name = path_parts(write.path)
                    with open_folder(self.root, folders) as parent:
                        os.replace(staging / f"old-{number}", name, dst_dir_fd=parent)
                else:
                    self.restore(write.path, write.before)
        except (OSError, UserError) as error:
            raise UserError(
                f"only a part of the change was made: {error}",
                hint="free disk space, then `rocm3d undo` restores every file",
            ) from error
        folders_made = {folder for write in writes for folder in write.folders}
        for folder in sorted(folders_made, key=len, reverse=True):
            self.remove_empty(folder)

    def _checked_parts(self, path: str) -> tuple[str, ...]:
        """The parts of a path without links, so that a clear message precedes any change."""
        parts = path_parts(path)
        target = self.root
        for part in parts:
            target = target / part
            if target.is_symlink():
                raise UserError(f"refusing to write {path!r}: {target.name} is a symlink")
        return parts


def remove_leftovers(root: Path) -> None:
    """Remove what killed writers left in .rocm3d. The caller holds the lock of the tree."""
    folder = root / STATE_FOLDER
    if folder.is_symlink():
        return
    for path in (entry for pattern in _LEFTOVERS for entry in folder.glob(pattern)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


def _store(path: Path, content: bytes, mode: int) -> None:
    """Write a file and sync it, so that a rename after this never exposes an empty one."""
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(mode)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
