"""Reads files and mounts of a machine below a root folder, which may be a test machine or a chroot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class MachineFiles:
    """Never raises: a file that cannot be read counts as empty. Paths are relative to the root."""

    root: Path = Path("/")

    def path(self, name: str | Path) -> Path:
        """The path below the root."""
        return self.root / str(name).lstrip("/")

    def text(self, name: str | Path) -> str:
        """Content without trailing newlines, at most 1 MiB; empty if it cannot be read."""
        try:
            with self.path(name).open(encoding="utf-8", errors="replace") as file:
                return file.read(_MAX_BYTES).rstrip("\n\0")
        except (OSError, ValueError):
            return ""

    def number(self, name: str | Path) -> int:
        """The integer at the beginning of the file; 0 if there is none."""
        words = self.text(name).split()
        return int(words[0]) if words and words[0].isascii() and words[0].isdecimal() and len(words[0]) < 19 else 0

    def exists(self, name: str | Path) -> bool:
        """Whether a path exists; False without permission to check."""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def is_readable(self, name: str | Path) -> bool:
        """Whether a byte can be read: the kernel may allow to open a file and then refuse to read it."""
        try:
            with self.path(name).open("rb", buffering=0) as file:
                file.read(1)
        except OSError:
            return False
        return True

    def glob_names(self, folder: str, pattern: str) -> list[str]:
        """Sorted names in a folder that match a glob pattern."""
        try:
            return sorted(entry.name for entry in self.path(folder).glob(pattern))
        except OSError:
            return []

    def resolve(self, name: str | Path) -> Path | None:
        """The path with all links resolved; None if it does not exist."""
        try:
            return self.path(name).resolve(strict=True)
        except (OSError, RuntimeError):
            return None


@dataclass(frozen=True)
class Mount:
    """A line of /proc/self/mountinfo. `options` are the superblock options, not the per-mount ones."""

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
