"""A digest of the rocm3d code that influences compile results, as part of their cache keys."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from rocm3d import __version__

_PACKAGE = Path(__file__).parents[2]
# Modules that find and call compilers and parse their output. own_headers has a separate digest.
_PARTS = (
    "toolchain", "verify/compilation", "payload/hipify_sources.py", "payload/read_build.py", "model/compilation.py",
)  # fmt: skip


@cache
def digest(package: Path = _PACKAGE) -> str:
    """Of relative paths and contents: another copy of the same version shares results, an upgrade does not."""
    hasher = hashlib.sha256(__version__.encode())
    for part in _PARTS:
        root = package / part
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            hasher.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()
