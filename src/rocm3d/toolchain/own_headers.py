"""The headers that rocm3d ships in headers/, and their include folders: see headers/README.md."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "headers"
DECLARED, COMPLETED, CUDA = FOLDER / "declared", FOLDER / "completed", FOLDER / "cuda"


@cache
def digest() -> str:
    """A digest of all shipped headers, for cache keys."""
    hasher = hashlib.sha256()
    for path in sorted(file for file in FOLDER.rglob("*") if file.is_file()):
        hasher.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()


def include_name(path: Path) -> str | None:
    """The path to use in #include for a shipped header; None for other files."""
    for folder in (DECLARED, COMPLETED, CUDA):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return None
