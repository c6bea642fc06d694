"""Files that scripts/new.py writes are found, valid and formatted, in a copy of the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


# One of each kind, and one of each variant.
NEW = (
    ("package", "some-package"),
    ("target", "gfx9999"),
    ("stack", "rocm-9"),
    ("card", "some-card"),
    ("condition", "some-condition"),
    ("advice", "some-advice"),
    ("variable", "SOME_VARIABLE"),
    ("port", "some-port"),
    ("fix", "build_isolation", "some-fix"),
    ("rule", "cuda", "some_pattern", "CU999"),
    ("rule", "python", "some_habit", "PY999"),
    ("rule", "build", "some_build", "BLD999", "--python"),
    ("matcher", "some_matcher"),
    ("rewrite", "do_something"),
    ("probe", "try_something"),
    ("addition", "something"),
    ("command", "something"),
    ("tool", "something"),
    ("kernel", "blur"),
    ("kernel", "zoom_2d"),
)
pytestmark = pytest.mark.xdist_group("scaffold")


@pytest.fixture(scope="module")
def checkout_copy(tmp_path_factory):
    """One copy of the checkout with all of NEW, and the runs of new.py."""
    root = tmp_path_factory.mktemp("house")
    for folder in ("src", "scripts", "knowledge", "kernels/gate"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    # With these files ruff knows which imports of a kernel are first-party.
    for name in ("kernels/src/rocm3d_kernels/__init__.py", "kernels/benchmarks/side_by_side.py"):
        (root / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, root / name)
    return root, {words: new(root, *words) for words in NEW}


def run(checkout_copy: Path, *command: object):
    environment = {**os.environ, "PYTHONPATH": str(checkout_copy / "src")}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        cwd=checkout_copy,
        env=environment,
        check=False,
    )


def new(checkout_copy: Path, *words: str):
    return run(checkout_copy, "scripts/new.py", *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rule", "cuda", "lonely"), "needs GROUP NAME CODE"),
        (("fix", "no_such_rule", "x"), "knowledge/rules has no rule no_such_rule"),
        (("kernel", "Blur-2D"), "small letters, digits and underscores"),
        (("rewrite", "guard_include"), "already exists"),
        (("rule", "cuda", "again", "CU998", "--found", "nowhere.cu"), "--found nowhere.cu is not a file"),
    ],
)
def test_is_refused_with_one_line(checkout_copy, words, message):
    root, _ = checkout_copy
    ended = new(root, *words)

    assert ended.returncode == 2
    assert message in ended.stderr


def test_a_rule_for_what_others_find_is_pointed_out(checkout_copy, tmp_path):
    root, _ = checkout_copy
    (tmp_path / "launch.cu").write_text("void f() { k<< <1, 2>> >(); }\n")
    words = ("rule", "cuda", "again", "CU998", "--found", str(tmp_path / "launch.cu"))
    refused, written = new(root, *words), new(root, *words, "--anyway")

    assert refused.returncode == 2
    assert "1:13 CU301 spaced_launch: " in refused.stderr
    assert "knowledge/rules/cuda/again/cases/found.txt" in written.stdout
    shutil.rmtree(root / "knowledge/rules/cuda/again")


def test_each_new_thing_is_made(checkout_copy):
    _, runs = checkout_copy

    assert {} == {words: ended.stderr for words, ended in runs.items() if ended.returncode != 0}


def test_scaffold_texts_are_refused_until_they_are_replaced(checkout_copy):
    root, runs = checkout_copy
    records = [root / name for words in NEW for name in runs[words].stdout.split() if name.endswith(".toml")]
    refused = run(root, "-m", "rocm3d", "kb", "check")
    for path in records:
        path.write_text(path.read_text(encoding="utf-8").replace("TODO: ", ""), encoding="utf-8")
    accepted = run(root, "-m", "rocm3d", "kb", "check")

    assert refused.returncode == 1
    assert [] == [path for path in records if path.relative_to(root / "knowledge").as_posix() not in refused.stdout]
    assert (0, "") == (accepted.returncode, accepted.stdout), accepted.stderr


def test_new_files_pass_the_linter(checkout_copy):
    root, _ = checkout_copy
    lint = run(root, "-m", "ruff", "check", ".")

    assert lint.returncode == 0, lint.stdout


def test_a_new_command_runs(checkout_copy):
    root, _ = checkout_copy
    ended = run(root, "-c", "from rocm3d.cli.main import main; main()", "something", root / "src")

    assert (0, "src\n") == (ended.returncode, ended.stdout)


def test_the_gate_finds_new_kernels_without_a_fault(checkout_copy):
    """Their own tests need torch: kernels/tests/test_scaffold.py."""
    root, runs = checkout_copy
    written = [name for words in NEW if words[0] == "kernel" for name in runs[words].stdout.split()]
    gate = "import sys; sys.path.insert(0, 'kernels'); from gate import lint, sources"
    gate_run = run(root, "-c", f"{gate}; print(sources.operations(), lint.problems())")
    tidy = run(root, "-m", "ruff", "format", "--check", *[name for name in written if name.endswith(".py")])

    assert gate_run.stdout == "['blur', 'zoom_2d'] []\n"
    assert tidy.returncode == 0, tidy.stdout
