"""Asks git whether a tree is clean; asks nothing that would run the repository's own programs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from pathlib import Path

# A repository's configuration can name programs for git to start; these switch them off.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false")


def uncommitted(root: Path) -> list[str] | None:
    """Changed or untracked paths below `root`, relative to it; None where git does not track this folder."""
    if shutil.which("git") is None:
        return None
    code, prefix = _git(root, "rev-parse", "--show-prefix")
    if code != 0 or _git(root, "check-ignore", "-q", ".")[0] == 0:
        return None
    below = prefix.rstrip("\n")
    return [path.removeprefix(below) for path in _changed(_git(root, "status", "--porcelain", "-z", "--", ".")[1])]


def _changed(status: str) -> list[str]:
    """Paths of `git status --porcelain -z`; a rename is followed by the old name as an entry of its own."""
    entries, paths = iter(status.split("\0")), []
    for entry in entries:
        if entry:
            paths.append(entry[3:])
            if entry[0] in "RC":
                paths.append(next(entries, ""))
    return paths


def _git(root: Path, *arguments: str) -> tuple[int | None, str]:
    finished = run(["git", *_SAFE, "-C", str(root), *arguments], keep_bytes=16 * 1024 * 1024)
    return finished.code, finished.stdout.decode("utf-8", "replace")
