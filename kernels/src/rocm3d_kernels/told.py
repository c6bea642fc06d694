"""Lines for whoever records this process: JSON, to the file that ROCM3D_RECORD names."""

from __future__ import annotations

import json
import os
import sys

_SAID: set[str] = set()


def tell(**line: object) -> None:
    """One line, once in this process. A file that cannot be written is said, and the program goes on."""
    place = os.environ.get("ROCM3D_RECORD")
    if not place:
        return
    text = json.dumps(line, sort_keys=True)
    if text in _SAID:
        return
    _SAID.add(text)
    try:
        with open(place, "a", encoding="utf-8") as record:  # noqa: PTH123  (one write, so that lines stay whole)
            record.write(text + "\n")
    except OSError as error:
        sys.stderr.write(f"rocm3d-kernels: not recorded: {error}\n")
