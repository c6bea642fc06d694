"""Prints the folders of torch and of the Python headers; torch is not imported.

    python -I torch_places.py

One JSON line on stdout: `torch` (its folder, or empty) and `include` (the folder of Python.h).
"""

from __future__ import annotations

import importlib.util
import json
import sys
import sysconfig
from pathlib import Path

if __name__ == "__main__":
    found = importlib.util.find_spec("torch")
    folder = str(Path(found.origin).parent) if found is not None and found.origin else ""
    sys.stdout.write(json.dumps({"torch": folder, "include": sysconfig.get_path("include")}) + "\n")
