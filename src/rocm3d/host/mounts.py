"""Mounts from /proc/self/mountinfo (Documentation/filesystems/proc.rst of Linux)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.host.files import Files


@dataclass(frozen=True)
class Mount:
    """`options` are the superblock options, not the per-mount ones."""

    point: str
    filesystem: str
    options: str


def read_mounts(files: Files) -> tuple[Mount, ...]:
    """In file order: a later mount hides an earlier one at the same point."""
    found = []
    for line in files.text("/proc/self/mountinfo").splitlines():
        before, dash, after = line.partition(" - ")
        own, theirs = before.split(" "), after.split(" ")
        if dash and len(own) >= 5 and len(theirs) >= 3:
            found.append(Mount(_plain(own[4]), theirs[0][:64], theirs[2]))
    return tuple(found)


def mount_of(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """The mount that contains a path; None if there is none."""
    holding = [item for item in mounts if path == item.point or path.startswith(item.point.rstrip("/") + "/")]
    longest = max((len(item.point) for item in holding), default=0)
    return next((item for item in reversed(holding) if len(item.point) == longest), None)


def _plain(text: str) -> str:
    """The kernel escapes blanks in paths as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), text)
