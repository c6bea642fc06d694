"""Throw-away files for libraries that read only from disk."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def scratch_file(name: str, content: bytes) -> Iterator[Path]:
    """A file of that name in a folder of its own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="rocm3d-") as folder:
        place = Path(folder) / name
        place.write_bytes(content)
        yield place
