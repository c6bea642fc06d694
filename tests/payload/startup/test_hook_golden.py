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


class Recording:
    """Settings of the hook, and the events that it wrote."""

    def __init__(self, folder: Path, modules=(), calls=1, seed=None) -> None:
        self.folder, self.report = folder / "modules", folder / "report.jsonl"
        self.folder.mkdir(exist_ok=True)
        self.report.unlink(missing_ok=True)
        settings = {"folder": str(self.folder), "modules": modules, "calls": calls, "seed": seed}
        self.env = {"ROCM3D_RECORD": str(self.report), "ROCM3D_GOLDEN": json.dumps(settings)}

    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.report.read_text().splitlines()] if self.report.exists() else []

    @property
    def tensors(self) -> dict[str, dict]:
        return {line["name"]: line for line in self.lines if line["kind"] == "tensor"}


@pytest.fixture
def start(torch_python, tmp_path):
    """Runs a program in an interpreter that starts the hook."""

    def run(program=PROGRAM, **options):
        recording = Recording(tmp_path, **options)
        ended = subprocess.run(
            [torch_python, "-c", program], env={**os.environ, "PYTHONPATH": str(FOLDER), **recording.env},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return ended.stdout, recording

    return run


@pytest.fixture
def fork(torch_output, tmp_path):
    """Runs the program in a process that imported torch before the hook started."""

    def run(env=(), **options):
        recording = Recording(tmp_path, **options)
        program = f"import hook_golden\nhook_golden.start()\n{PROGRAM}"
        return torch_output(program, FOLDER, **recording.env, **dict(env)), recording

    return run


def test_a_program_without_torch_is_left_alone(start):
    printed, recording = start("import sys; print('torch' in sys.modules)", modules=["*"], seed=1)

    assert (printed, recording.lines) == ("False\n", [])


def test_module_names_are_right_after_an_exception(start):
    """The outermost module names its submodules, also in the first call after an exception."""
    printed, recording = start(modules=["Whole.parts.1"])

    assert printed.startswith("went on")
    assert set(recording.tensors) == {"Whole.parts.1[0].twice", "Whole.parts.1[0].more.0"}


def test_modules_match_by_class_and_calls_are_limited(fork):
    _, recording = fork(modules=["Part"], calls=2)

    assert {name for name in recording.tensors if "twice" in name} == {
        f"Whole.parts.{part}[{call}].twice" for part in (0, 1) for call in (0, 1)
    }
    event = recording.tensors["Whole.parts.0[1].twice"]
    assert numpy.load(recording.folder / event["file"]).tolist() == [4, 4]
    assert recording.tensors["Whole.parts.0[0].more.0"]["dtype"] == "float16"
    (environment,) = [line["environment"] for line in recording.lines if line["kind"] == "environment"]
    assert environment["torch"].startswith("2.")


def test_seed_makes_runs_equal_and_ranks_have_a_prefix(fork):
    first, _ = fork(seed=5)
    second, recording = fork(env={"RANK": "3"}, seed=5, modules=["Whole"])

    assert first == second
    assert first.startswith("went on")
    assert all(name.startswith("rank3/Whole[0].") for name in recording.tensors)
    assert recording.tensors
