"""Adding a thing is one command: what scripts/new.py writes is found, valid and tidy, in a copy of the house."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def house(tmp_path):
    for folder in ("src", "scripts", "knowledge"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # By these ruff knows which imports of a kernel are of the house.
    for name in ("kernels/src/rocm3d_kernels/__init__.py", "kernels/benchmarks/side_by_side.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(house: Path, *command: object):
    environment = {**os.environ, "PYTHONPATH": str(house / "src")}
    return subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, cwd=house, env=environment, check=False
    )


def new(house: Path, *words: str):
    return run(house, "scripts/new.py", *words)


def test_wrong_words_are_refused_with_one_line(house):
    ended = new(house, "detector", "cuda", "lonely")

    assert ended.returncode == 2
    assert "needs GROUP NAME CODE" in ended.stderr


def test_a_kernel_whose_name_no_function_can_have_is_refused(house):
    ended = new(house, "kernel", "Blur-2D")

    assert ended.returncode == 2
    assert "small letters, digits and underscores" in ended.stderr


def test_nothing_is_overwritten(house):
    ended = new(house, "rewrite", "guard_include")

    assert ended.returncode == 2
    assert "is there already" in ended.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("package", "some-package"),
        ("target", "gfx9999"),
        ("stack", "rocm-9"),
        ("card", "some-card"),
        ("condition", "some-condition"),
        ("recipe", "native-op", "some-recipe", "CU101"),
        ("detector", "cuda", "some_pattern", "CU999"),
        ("detector", "python", "some_habit", "PY999"),
        ("rewrite", "do_something"),
        ("probe", "try_something"),
        ("addition", "something"),
        ("command", "something"),
        ("kernel", "blur"),
        ("kernel", "zoom_2d"),
    ],
    ids=" ".join,
)
def test_a_new_thing_is_found_and_the_house_stays_valid(house, words):
    made = new(house, *words)
    check = run(house, "-c", "from rocm3d.cli.main import main; main()", "kb", "check")
    lint = run(house, "-m", "ruff", "check", ".")

    assert made.returncode == 0, made.stderr
    assert (0, "") == (check.returncode, check.stdout), check.stderr
    assert lint.returncode == 0, lint.stdout


def test_a_new_command_runs(house):
    new(house, "command", "something")

    ended = run(house, "-c", "from rocm3d.cli.main import main; main()", "something", house / "src")

    assert (0, "src\n") == (ended.returncode, ended.stdout)


def test_the_gate_finds_a_new_kernel_without_a_fault(house):
    """Its own tests run where torch is: kernels/tests/test_scaffold.py."""
    shutil.copytree(ROOT / "kernels" / "gate", house / "kernels" / "gate")
    made = new(house, "kernel", "blur").stdout.split()
    gate = "import sys; sys.path.insert(0, 'kernels'); from gate import lint, sources"
    found = run(house, "-c", f"{gate}; print(sources.operations(), lint.problems())")
    tidy = run(house, "-m", "ruff", "format", "--check", *[name for name in made if name.endswith(".py")])

    assert found.stdout == "['blur'] []\n"
    assert tidy.returncode == 0, tidy.stdout
