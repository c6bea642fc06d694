"""Events of this process as JSON lines in the file named by ROCM3D_RECORD."""

from __future__ import annotations

import json
import os
import sys

_WRITTEN: set[str] = set()


def write_event(**fields: object) -> None:
    """Appends one line, once per process. A file that cannot be written is reported on stderr, not raised."""
    path = os.environ.get("ROCM3D_RECORD")
    if not path:
        return
    text = json.dumps(fields, sort_keys=True)
    if text in _WRITTEN:
        return
    _WRITTEN.add(text)
    try:
        with open(path, "a", encoding="utf-8") as record:  # noqa: PTH123  (one write per line, so that lines of several processes do not mix)
            record.write(text + "\n")
    except OSError as error:
        sys.stderr.write(f"rocm3d-kernels: event not recorded: {error}\n")
