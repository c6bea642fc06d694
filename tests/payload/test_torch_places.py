from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "torch_places.py"


def test_interpreter_without_torch():
    """rocm3d's own environment has no torch, by design."""
    output = subprocess.run([sys.executable, "-I", SCRIPT], capture_output=True, check=True).stdout

    folders = json.loads(output)
    assert folders["torch"] == ""
    assert "python" in folders["include"]
