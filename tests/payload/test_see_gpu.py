from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "see_gpu.py"
TORCH = """
import types
__version__ = "2.9.0+rocm"
version = types.SimpleNamespace(hip="7.0")
cuda = types.SimpleNamespace(
    device_count=lambda: 1, get_device_properties=lambda index: types.SimpleNamespace(name="card", uuid="ab-cd")
)
"""


def run_script(folder: Path) -> dict:
    env = {**os.environ, "PYTHONPATH": str(folder)}
    ended = subprocess.run([sys.executable, SCRIPT], env=env, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def test_without_torch_no_gpu_is_listed(tmp_path):
    assert run_script(tmp_path) == {"torch": "", "hip": "", "devices": []}


def test_torch_build_and_devices_are_listed(tmp_path):
    (tmp_path / "torch.py").write_text(TORCH)
    assert run_script(tmp_path) == {"torch": "2.9.0+rocm", "hip": "7.0", "devices": [{"name": "card", "uuid": "ab-cd"}]}
