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
    spec = importlib.util.find_spec("torch")
    folder = str(Path(spec.origin).parent) if spec is not None and spec.origin else ""
    sys.stdout.write(json.dumps({"torch": folder, "include": sysconfig.get_path("include")}) + "\n")
