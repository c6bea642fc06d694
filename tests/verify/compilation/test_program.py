from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import rocm3d
from rocm3d.verify.compilation.program import digest

PACKAGE = Path(rocm3d.__file__).parent
PARTS = ("toolchain", "verify", "payload", "model", "scan")


@pytest.fixture
def copy(tmp_path):
    """A copy of the rooms that matter, and of one that does not."""
    for room in PARTS:
        shutil.copytree(PACKAGE / room, tmp_path / "rocm3d" / room, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "rocm3d"


@pytest.mark.parametrize(
    "path", ["toolchain/compiler.py", "verify/compilation/unit.py", "payload/hipify_sources.py", "model/compilation.py"]
)
def test_other_text_is_another_program(copy, path):
    with (copy / path).open("a") as file:
        file.write("# more\n")

    assert digest(copy) != digest()


def test_a_module_more_is_another_program(copy):
    (copy / "toolchain" / "new.py").write_text("")

    assert digest(copy) != digest()


def test_what_does_not_compile_does_not_count(copy):
    (copy / "scan" / "stage.py").write_text("")
    (copy / "verify" / "stage.py").write_text("")

    assert digest(copy) == digest()
