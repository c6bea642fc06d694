from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "torch_places.py"


def test_an_interpreter_without_torch_says_so_and_where_its_headers_are():
    """rocm3d's own environment has no torch, by design."""
    said = subprocess.run([sys.executable, "-I", SCRIPT], capture_output=True, check=True).stdout

    found = json.loads(said)
    assert found["torch"] == ""
    assert "python" in found["include"]
