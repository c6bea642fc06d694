"""Small JSON files of a cache, read as input that anybody may have written.

Whatever lies there instead of a file of ours means that there is no entry: reading raises nothing and never blocks.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MAX_BYTES = 16 * 1024


def read_entry(path: Path) -> dict[str, Any] | None:
    """The JSON object in the file; None if the file is missing, damaged, too large, or no regular file."""
    try:
        # Without NONBLOCK the open of a FIFO waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(MAX_BYTES + 1)
        entry = json.loads(content) if len(content) <= MAX_BYTES else None
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
    finally:
        os.close(descriptor)
    return entry if isinstance(entry, dict) else None


def write_entry(path: Path, entry: Mapping[str, Any]) -> bool:
    """Replaces the file at once, so that a reader gets the former or the new entry. False if it cannot be written."""
    scratch = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A name of its own for each writer: process ids repeat between threads, containers and machines.
        descriptor, scratch = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".tmp", dir=path.parent)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  (of a descriptor)
            json.dump(entry, file)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        os.replace(scratch, path)  # noqa: PTH105  (of a name)
    except (OSError, ValueError):
        with contextlib.suppress(OSError):
            if scratch:
                os.unlink(scratch)  # noqa: PTH108  (of a name)
        return False
    return True
