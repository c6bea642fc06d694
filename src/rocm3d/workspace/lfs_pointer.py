"""Git LFS pointers: a committed text that names the content of a file by size and SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

# A pointer with extensions (`ext-0-...`) names the content before they changed it, so it is not read.
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:(?P<sha256>[0-9a-f]{64})\nsize (?P<size>\d{1,18})\n?"
)
# Any pointer: with extensions, and of the first release, which had another name.
_ANY_POINTER = re.compile(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/v\d+\n(?:[\w.-]+ [^\n]*\n)*oid \w+:")
MAX_POINTER_BYTES = 1024


def is_lfs_pointer(data: bytes) -> bool:
    """Whether a file is a pointer in place of its content, which Git LFS has not fetched."""
    return len(data) <= MAX_POINTER_BYTES and _ANY_POINTER.match(data) is not None


@dataclass(frozen=True)
class LfsPointer:
    """The content of a file."""

    sha256: str
    size: int

    @classmethod
    def parse(cls, data: bytes) -> LfsPointer | None:
        """The pointer in a committed text; None if it is none."""
        match = _POINTER.fullmatch(data)
        return cls(match["sha256"].decode(), int(match["size"])) if match else None

    def is_content_of(self, path: Path) -> bool:
        """Whether a regular file has this content."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        with os.fdopen(descriptor, "rb") as stream:
            status, digest = os.fstat(descriptor), hashlib.sha256()
            if not stat.S_ISREG(status.st_mode) or status.st_size != self.size:
                return False
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest() == self.sha256
