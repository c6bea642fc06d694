"""Copies a repository, so that its port does not change it. The copy is complete, or nothing is left of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.state import STATE_FOLDER

_GIT = ".git"
_GIT_LINK = b"gitdir: "
_MAX_LINK_BYTES = 4096


def refuse_target(source: Path, into: Path, *, with_git: bool = False) -> None:
    """Raises UserError if no copy can be made there."""
    try:
        is_taken = os.path.lexists(into) and (not into.is_dir() or any(into.iterdir()))
    except OSError as error:
        raise UserError(f"cannot copy to {into}: {error.strerror}") from error
    if is_taken:
        raise UserError(f"--into {into} already exists and is not empty", hint="pass a folder that does not exist yet")
    if into.resolve().is_relative_to(source.resolve()):
        raise UserError(f"--into {into} is inside the repository", hint="pass a folder outside of it")
    if with_git and not (source / _GIT).is_dir():
        reason = "is a link to the data of another checkout" if (source / _GIT).exists() else "does not exist"
        raise UserError(f"--with-git: {source / _GIT} {reason}", hint="leave out --with-git, or clone the repository")


@contextlib.contextmanager
def copied_tree(
    source: Path,
    into: Path,
    progress: Callable[[str], object] = len,
    *,
    with_git: bool = False,
    is_ported: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """A copy without .rocm3d and without git's data. Links stay links; sockets and pipes are omitted.

    It is removed if the block raises, unless somebody could miss it by then.
    """
    refuse_target(source, into, with_git=with_git)
    missing = [folder for folder in (into, *into.parents) if not os.path.lexists(folder)]
    try:
        _copy(source, into, _Copied(source, progress, with_git))
        yield
    except BaseException:
        if not is_ported():
            _remove(into, missing)
        raise


def _copy(source: Path, into: Path, copied: _Copied) -> None:
    try:
        shutil.copytree(
            source, into, symlinks=True, ignore=copied.omitted, copy_function=copied.copy_file, dirs_exist_ok=True
        )
    except shutil.Error as error:
        first = error.args[0][0]
        raise UserError(f"cannot copy {first[0]}: {first[2]}", hint="make it readable or remove it") from error
    except OSError as error:
        raise UserError(f"cannot copy to {into}: {error.strerror}") from error


@dataclass(frozen=True)
class _Copied:
    """What is copied of a tree."""

    source: Path
    progress: Callable[[str], object]
    with_git: bool

    def copy_file(self, path: str, target: str) -> object:
        self.progress(os.path.relpath(path, self.source))
        return shutil.copy2(path, target, follow_symlinks=False)

    def omitted(self, folder: str, names: list[str]) -> set[str]:
        """Names in a folder that are not copied."""
        return {name for name in names if name == STATE_FOLDER or not self._is_copied(Path(folder) / name)}

    def _is_copied(self, path: Path) -> bool:
        mode = path.lstat().st_mode
        if path.name == _GIT and not (self.with_git and self._is_own_git(path, mode)):
            return False
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)

    def _is_own_git(self, path: Path, mode: int) -> bool:
        """Whether it is git's data, or leads to data in the same tree: two checkouts must not share theirs."""
        if stat.S_ISDIR(mode):
            return True
        if not stat.S_ISREG(mode):
            return False
        with path.open("rb") as stream:
            text = stream.read(_MAX_LINK_BYTES)
        target = Path(os.fsdecode(text.removeprefix(_GIT_LINK).strip()))
        if not text.startswith(_GIT_LINK) or target.is_absolute():
            return False
        return (path.parent / target).resolve().is_relative_to(self.source.resolve() / _GIT)


def _remove(into: Path, missing: list[Path]) -> None:
    """Remove the copy, and the folders above it that did not exist."""
    for entry in into.iterdir() if into.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            _make_removable(entry)
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    for folder in missing:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _make_removable(top: Path) -> None:
    """A read-only folder cannot be emptied."""
    pending = [top]
    while pending:
        folder = pending.pop()
        with contextlib.suppress(OSError):
            folder.chmod(0o700)
            pending += (entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
