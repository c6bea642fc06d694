"""Rules for the whole package."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from rocm3d_kernels.dropin.declaration import all_drop_ins
from rocm3d_kernels.gate_kernel import KERNEL_PREFIX

KERNELS = Path(__file__).resolve().parents[1]
PACKAGE = KERNELS / "src" / "rocm3d_kernels"
MODULES = sorted(PACKAGE.rglob("*.py"))
OPERATIONS = sorted(path.parent for path in PACKAGE.glob("*/triton.py"))


def test_neither_torch_nor_triton_is_a_dependency():
    text = (KERNELS / "pyproject.toml").read_text(encoding="utf-8")

    assert "\ndependencies = []\n" in text
    assert "optional-dependencies" not in text


def test_nothing_knows_the_toolkit():
    imports = {
        (path.name, name.partition(".")[0])
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
    }

    assert [] == [item for item in imports if item[1] == "rocm3d"]


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_modules_are_short_and_have_a_docstring():
    texts = {path.relative_to(KERNELS).as_posix(): path.read_text(encoding="utf-8") for path in MODULES}

    assert [] == [name for name, text in texts.items() if len(text.splitlines()) > 400]
    assert [] == [name for name, text in texts.items() if not text.startswith('"""')]


@pytest.mark.parametrize("folder", OPERATIONS, ids=lambda path: path.name)
def test_an_operation_has_all_its_parts(folder):
    parts = {"__init__.py", "reference.py", "triton.py", "gate.py", "README.md"}

    assert parts <= {path.name for path in folder.iterdir()}
    assert (KERNELS / "tests" / folder.name).is_dir()


@pytest.mark.parametrize("folder", OPERATIONS, ids=lambda path: path.name)
def test_kernel_names_have_the_prefix(folder):
    declared = importlib.import_module(f"rocm3d_kernels.{folder.name}.gate").KERNELS

    assert [] == [item.kernel.__name__ for item in declared if not item.kernel.__name__.startswith(KERNEL_PREFIX)]


@pytest.mark.checkout("docs/kernels.md")
def test_every_stand_in_is_in_the_table_of_what_is_covered():
    text = (KERNELS.parent / "docs" / "kernels.md").read_text(encoding="utf-8")
    table = text.partition("## What is covered")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))

    assert {stand_in.name for stand_in in all_drop_ins().values()} == {name.partition(".")[0] for name in documented}
