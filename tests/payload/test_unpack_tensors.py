from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "unpack_tensors.py"
SAVE = """
import sys, torch
class Evil:
    def __reduce__(self):
        return print, ("it ran",)
torch.save({"weights": [torch.ones(2), torch.zeros(1, dtype=torch.float16)], "step": 3, "name": "x"}, sys.argv[1])
torch.save(torch.arange(3), sys.argv[2])
torch.save(Evil(), sys.argv[3])
"""


def test_tensors_are_unpacked_and_nothing_in_a_file_runs(torch_python, tmp_path):
    files = {name: str(tmp_path / name) for name in ("good.pt", "alone.pt", "evil.pt")}
    subprocess.run([torch_python, "-c", SAVE, *files.values()], check=True, capture_output=True)
    (tmp_path / "broken.pt").write_bytes(b"not a torch file")
    folder = tmp_path / "tensors"
    folder.mkdir()
    note = tmp_path / "request.json"
    note.write_text(json.dumps({"files": {**files, "broken.pt": str(tmp_path / "broken.pt")}, "folder": str(folder)}))

    ended = subprocess.run([torch_python, SCRIPT, note], capture_output=True, text=True, check=True)

    answer = json.loads(ended.stdout)
    assert "it ran" not in ended.stdout + ended.stderr
    assert set(answer["failed"]) == {"evil.pt", "broken.pt"}
    assert [(entry["name"], entry["dtype"]) for entry in answer["tensors"]] == [
        ("good.pt:weights.0", "float32"),
        ("good.pt:weights.1", "float16"),
        ("good.pt:step", "int64"),
        ("alone.pt:.", "int64"),
    ]
    assert numpy.load(folder / answer["tensors"][0]["file"]).tolist() == [1, 1]
