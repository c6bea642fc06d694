"""Mounts from /proc/self/mountinfo (Documentation/filesystems/proc.rst of Linux)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.host.files import MachineFiles


@dataclass(frozen=True)
class Mount:
    """`options` are the superblock options, not the per-mount ones."""

    point: str
    filesystem: str
    options: str


def read_mounts(files: MachineFiles) -> tuple[Mount, ...]:
    """In file order: a later mount hides an earlier one at the same point."""
    mounts = []
    for line in files.text("/proc/self/mountinfo").splitlines():
        before, dash, after = line.partition(" - ")
        mount_fields, filesystem_fields = before.split(" "), after.split(" ")
        if dash and len(mount_fields) >= 5 and len(filesystem_fields) >= 3:
            mounts.append(Mount(_unescape(mount_fields[4]), filesystem_fields[0][:64], filesystem_fields[2]))
    return tuple(mounts)


def find_mount(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """The mount that contains a path; None if there is none."""
    candidates = [mount for mount in mounts if path == mount.point or path.startswith(mount.point.rstrip("/") + "/")]
    longest = max((len(mount.point) for mount in candidates), default=0)
    return next((mount for mount in reversed(candidates) if len(mount.point) == longest), None)


def _unescape(text: str) -> str:
    """The kernel escapes blanks in paths as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), text)
