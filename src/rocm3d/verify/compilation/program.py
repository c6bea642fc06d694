"""Which rocm3d made a result: what puts a compile together and reads it back decides as much as the sources do."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from rocm3d import __version__

_PACKAGE = Path(__file__).parents[2]
# Modules that find and call compilers, and that read what they say and make. The headers of our own count elsewhere.
_PARTS = (
    "toolchain", "verify/compilation", "payload/hipify_sources.py", "payload/read_build.py", "model/compilation.py",
)  # fmt: skip


@cache
def digest(package: Path = _PACKAGE) -> str:
    """Of their text, so that a copy somewhere else knows the same results, and an upgrade none that are not its own."""
    seen = hashlib.sha256(__version__.encode())
    for part in _PARTS:
        place = package / part
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            seen.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return seen.hexdigest()
