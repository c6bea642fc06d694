from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy
import pytest

FOLDER = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "startup"
PROGRAM = """
import torch
class Part(torch.nn.Module):
    def forward(self, x):
        if x is None:
            raise ValueError("on purpose")
        return {"twice": 2 * x, "more": [x.half()]}
class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList([Part(), Part()])
    def forward(self, x):
        return [part(x) for part in self.parts]
whole = Whole()
try:
    whole(None)
except ValueError:
    print("went on")
for value in (1.0, 2.0, 3.0):
    whole(torch.full((2,), value))
print(torch.rand(1).item())
"""


@pytest.fixture
def recorded(torch_python, tmp_path):
    def run(program=PROGRAM, modules=(), calls=1, seed=None, **env):
        folder, report = tmp_path / "modules", tmp_path / "report.jsonl"
        folder.mkdir(exist_ok=True)
        asked = json.dumps({"folder": str(folder), "modules": modules, "calls": calls, "seed": seed})
        ended = subprocess.run(
            [torch_python, "-c", program],
            env={**os.environ, "PYTHONPATH": str(FOLDER), "ROCM3D_RECORD": str(report), "ROCM3D_GOLDEN": asked, **env},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
        report.unlink(missing_ok=True)
        return ended, {line["name"]: line for line in lines if line["kind"] == "tensor"}, lines, folder

    return run


def test_a_program_without_torch_is_left_alone(recorded):
    ended, _, lines, _ = recorded("import sys; print('torch' in sys.modules)", modules=["*"], seed=1)

    assert (ended.stdout, lines) == ("False\n", [])


def test_a_module_that_raises_confuses_no_later_name(recorded):
    """The outermost module names all below it, the first time that nothing went wrong too."""
    ended, tensors, _, _ = recorded(modules=["Whole.parts.1"])

    assert ended.stdout.startswith("went on")
    assert set(tensors) == {"Whole.parts.1[0].twice", "Whole.parts.1[0].more.0"}


def test_modules_are_found_by_class_and_so_many_calls_are_kept(recorded):
    _, tensors, lines, folder = recorded(modules=["Part"], calls=2)

    assert {name for name in tensors if "twice" in name} == {
        f"Whole.parts.{part}[{call}].twice" for part in (0, 1) for call in (0, 1)
    }
    kept = tensors["Whole.parts.0[1].twice"]
    assert numpy.load(folder / kept["file"]).tolist() == [4, 4]
    assert tensors["Whole.parts.0[0].more.0"]["dtype"] == "float16"
    (environment,) = [line["environment"] for line in lines if line["kind"] == "environment"]
    assert environment["torch"].startswith("2.")


def test_a_seed_makes_two_runs_equal_and_ranks_stay_apart(recorded):
    first, _, _, _ = recorded(seed=5)
    second, tensors, _, _ = recorded(seed=5, modules=["Whole"], RANK="3")

    assert first.stdout == second.stdout
    assert all(name.startswith("rank3/Whole[0].") for name in tensors)
