"""Files that a workload wrote: new or changed below some folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from rocm3d.model.evidence import MissingLink, SealedFile
from rocm3d.workspace.file_digest import file_digest

# Folders without results.
ASIDE = {".git", ".rocm3d", ".venv", "venv", "__pycache__", "node_modules", ".cache", ".mypy_cache", ".pytest_cache"}
MOST = 50_000

Stamp = tuple[int, int, int]


class Folders:
    """File stamps of some folders before a run. With more than MOST files nothing is compared: `too_many` is set."""

    def __init__(self, folders: tuple[Path, ...], without: Path) -> None:
        self.folders, self.without, self.too_many = folders, without.resolve(), False
        self.before = dict(self._stamps())

    def changed(self) -> list[Path]:
        """Regular files that are new or changed since construction."""
        now = {} if self.too_many else dict(self._stamps())
        # The second scan may have set too_many.
        return [] if self.too_many else sorted(path for path, stamp in now.items() if self.before.get(path) != stamp)

    def _stamps(self) -> Iterator[tuple[Path, Stamp]]:
        count = 0
        for folder in self.folders:
            for place, inner, names in os.walk(folder):
                inner[:] = [name for name in inner if name not in ASIDE and Path(place, name).resolve() != self.without]
                for name in names:
                    count += 1
                    if count > MOST:
                        self.too_many = True
                        return
                    path = Path(place, name)
                    try:
                        about = path.lstat()
                    except OSError:
                        continue  # deleted meanwhile
                    if stat.S_ISREG(about.st_mode):
                        yield path, (about.st_mtime_ns, about.st_size, about.st_ino)


def sealed(paths: Iterable[Path], root: Path) -> tuple[list[SealedFile], list[MissingLink]]:
    """Files with their digests, and those that could not be read. Paths below `root` are relative to it."""
    found, unread = [], []
    for path in paths:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        try:
            found.append(SealedFile(path=name, sha256=file_digest(path)))
        except OSError as error:
            unread.append(MissingLink(link=name, reason=error.strerror or str(error)))
    return found, unread
