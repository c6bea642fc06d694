"""The SHA-256 of a file, piece by piece: a result may be larger than memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def file_digest(path: Path) -> str:
    """In hexadecimal, as sha256sum prints it."""
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            whole.update(piece)
    return whole.hexdigest()
