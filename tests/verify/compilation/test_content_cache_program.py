from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import rocm3d
from rocm3d.verify.compilation.content_cache import program_digest

PACKAGE = Path(rocm3d.__file__).parent
PARTS = ("toolchain", "verify", "payload", "model", "scan")


@pytest.fixture
def copy(tmp_path):
    """A copy of the rooms that matter, and of one that does not."""
    for part in PARTS:
        shutil.copytree(PACKAGE / part, tmp_path / "rocm3d" / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "rocm3d"


@pytest.mark.parametrize(
    "path",
    [
        "toolchain/compiler.py",
        "verify/compilation/translation_unit.py",
        "payload/hipify_sources.py",
        "model/verdict.py",
    ],
)
def test_changed_code_changes_the_digest(copy, path):
    with (copy / path).open("a") as file:
        file.write("# more\n")

    assert program_digest(copy) != program_digest()


def test_a_new_module_changes_the_digest(copy):
    (copy / "toolchain" / "new.py").write_text("")

    assert program_digest(copy) != program_digest()


def test_other_modules_do_not_change_the_digest(copy):
    (copy / "scan" / "stage.py").write_text("")
    (copy / "verify" / "stage.py").write_text("")

    assert program_digest(copy) == program_digest()
