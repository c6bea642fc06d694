"""Temporary files and folders, for libraries and programs that read only from disk."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rocm3d.workspace.process import cleanup_if_killed


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="rocm3d-") as folder:
        yield Path(folder)


@contextmanager
def guarded_scratch_folder() -> Iterator[Path]:
    """An empty folder that is removed even if this process is killed, together with the programs it started."""
    # The cleanup helper knows the name before the folder exists, so there is no gap.
    folder = Path(tempfile.gettempdir()) / f"rocm3d-{secrets.token_hex(8)}"
    with cleanup_if_killed(folder):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


@contextmanager
def scratch_file(name: str, content: bytes) -> Iterator[Path]:
    """A file with this name in a new folder that is removed afterwards."""
    with scratch_folder() as folder:
        path = folder / name
        path.write_bytes(content)
        yield path
