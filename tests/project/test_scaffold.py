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
        ("recipe", "native-op", "some-recipe", "CU101"),
        ("detector", "cuda", "some_pattern", "CU999"),
        ("detector", "python", "some_habit", "PY999"),
        ("rewrite", "do_something"),
        ("probe", "try_something"),
        ("addition", "something"),
        ("command", "something"),
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
