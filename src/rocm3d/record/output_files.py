"""Files that a workload wrote: new or changed below some folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from rocm3d.model.evidence import MissingLink, SealedFile
from rocm3d.workspace.tree import file_digest

# Folders without results.
IGNORED_FOLDERS = {
    ".git",
    ".rocm3d",
    ".venv",
    "venv",
    "__pycache__",
    "node_modules",
    ".cache",
    ".mypy_cache",
    ".pytest_cache",
}
MAX_FILES = 50_000

Stamp = tuple[int, int, int]


class FolderState:
    """File stamps of some folders before a run. With more than MOST files nothing is compared: `too_many` is set."""

    def __init__(self, folders: tuple[Path, ...], excluded: Path) -> None:
        self.folders, self.excluded, self.too_many = folders, excluded.resolve(), False
        self.before = dict(self._stamps())

    def changed(self) -> list[Path]:
        """Regular files that are new or changed since construction."""
        now = {} if self.too_many else dict(self._stamps())
        # The second scan may have set too_many.
        return [] if self.too_many else sorted(path for path, stamp in now.items() if self.before.get(path) != stamp)

    def _stamps(self) -> Iterator[tuple[Path, Stamp]]:
        count = 0
        for folder in self.folders:
            for parent, subfolders, names in os.walk(folder):
                subfolders[:] = [
                    name
                    for name in subfolders
                    if name not in IGNORED_FOLDERS and Path(parent, name).resolve() != self.excluded
                ]
                for name in names:
                    count += 1
                    if count > MAX_FILES:
                        self.too_many = True
                        return
                    path = Path(parent, name)
                    try:
                        status = path.lstat()
                    except OSError:
                        continue  # deleted meanwhile
                    if stat.S_ISREG(status.st_mode):
                        yield path, (status.st_mtime_ns, status.st_size, status.st_ino)


def seal_files(paths: Iterable[Path], root: Path) -> tuple[list[SealedFile], list[MissingLink]]:
    """Files with their digests, and those that could not be read. Paths below `root` are relative to it."""
    sealed_files, unreadable = [], []
    for path in paths:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        try:
            sealed_files.append(SealedFile(path=name, sha256=file_digest(path)))
        except OSError as error:
            unreadable.append(MissingLink(link=name, reason=error.strerror or str(error)))
    return sealed_files, unreadable
