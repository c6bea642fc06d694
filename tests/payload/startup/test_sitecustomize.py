from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "startup"


@pytest.fixture
def python(tmp_path):
    """Runs a line of Python with a copy of the hooks folder on PYTHONPATH, and another sitecustomize after it."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    shutil.copyfile(FOLDER / "sitecustomize.py", ours / "sitecustomize.py")

    def run(line: str, shadowed: str = "", **hooks: str):
        (theirs / "sitecustomize.py").write_text(shadowed)
        for name, text in hooks.items():
            (ours / f"hook_{name}.py").write_text(text)
        path = os.pathsep.join((str(ours), str(theirs)))
        return subprocess.run(
            [sys.executable, "-c", line], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
        )

    return run


def test_failing_hook_is_reported_and_the_program_continues(python):
    ended = python("print('went on')", bad="def start():\n    raise ValueError('no')\n")

    assert (ended.returncode, ended.stdout) == (0, "went on\n")
    assert "rocm3d: hook_bad.py did not start" in ended.stderr


def test_the_sitecustomize_that_is_shadowed_runs_first(python):
    ended = python("print('program')", shadowed="print('theirs')", own="def start():\n    print('ours')\n")

    assert ended.stdout.split() == ["theirs", "ours", "program"]


def test_without_another_one_nothing_is_missed(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", "import sys; print('torch' in sys.modules)"],
        env={"PYTHONPATH": str(FOLDER)}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "False\n", "")
