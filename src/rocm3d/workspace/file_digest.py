"""The SHA-256 of a file, read in chunks, because it may be larger than memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def file_digest(path: Path) -> str:
    """Hexadecimal, as printed by sha256sum."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
