"""Trees as values: what a promise about every byte and mode is compared with."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

Snapshot = dict[str, tuple[int, bytes]]

STATE = ".rocm3d"
HUGE = 1 << 26  # of such a file only its size counts: it is sparse
# git rewrites its index when it looks at the tree: times of files, nothing that a commit has.
UNSTABLE = (".git/index", "repository.git/index")


def snapshot(root: Path, *, with_state: bool = False) -> Snapshot:
    """Mode and content of everything below a folder: bytes of files, targets of links, nothing of folders.

    Without the index of git, and without .rocm3d unless `with_state`.
    """
    entries: Snapshot = {}
    for folder, folders, files in os.walk(root):
        if not with_state and STATE in folders:
            folders.remove(STATE)
        for name in (*folders, *files):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if not relative.endswith(UNSTABLE):
                with contextlib.suppress(OSError):  # a path that is too long for this call
                    entries[relative] = _entry(path)
    return entries


def _entry(path: Path) -> tuple[int, bytes]:
    status = path.lstat()
    mode = status.st_mode
    if stat.S_ISREG(mode) and status.st_size > HUGE:
        return mode, str(status.st_size).encode()
    if stat.S_ISLNK(mode):
        return mode, os.fsencode(path.readlink())
    if stat.S_ISREG(mode):
        return mode, path.read_bytes()
    return mode, b""


def difference(before: Snapshot, now: Snapshot) -> str:
    """The first paths that differ, or an empty text."""
    changes = [f"{name} is missing" for name in sorted(before.keys() - now.keys())]
    changes += [f"{name} is new" for name in sorted(now.keys() - before.keys())]
    changes += [
        f"{name} has {'other bytes' if before[name][1] != now[name][1] else 'another mode'}"
        for name in sorted(before.keys() & now.keys())
        if before[name] != now[name]
    ]
    more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
    return ", ".join(map(repr, changes[:3])) + more if changes else ""
