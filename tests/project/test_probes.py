"""Probes: records and scripts refer to each other by name, and payloads need only the standard library."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PAYLOAD = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload"
SCRIPTS = sorted(PAYLOAD.rglob("*.py"))


def test_every_referenced_probe_exists_and_every_probe_is_referenced(knowledge):
    existing = {path.stem for path in (PAYLOAD / "probes").glob("*.py")} - {"__init__"}
    referenced = {package.probe for package in knowledge.packages.values()} - {""}
    referenced |= {item.probe for suite in knowledge.suites.values() for item in suite.probes}

    assert existing == referenced


def test_every_package_with_a_probe_is_in_a_suite(knowledge):
    in_suites = {name for suite in knowledge.suites.values() for name in suite.packages}

    assert {package.id for package in knowledge.packages.values() if package.probe} == in_suites


def test_a_package_with_a_probe_can_be_imported_by_a_name(knowledge):
    assert [] == [package.id for package in knowledge.packages.values() if package.probe and not package.imports]


def test_exactly_one_suite_is_the_base(knowledge):
    assert [suite.id for suite in knowledge.suites.values() if suite.base] == ["base"]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(PAYLOAD)))
def test_payload_imports_only_the_standard_library_at_module_level(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}

    hook_modules = {other.stem for other in path.parent.glob("rocm3d_hook_*.py")}  # on the path of every workload
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names | hook_modules


@pytest.mark.parametrize("path", sorted((PAYLOAD / "probes").glob("*.py")), ids=lambda path: path.stem)
def test_a_probe_takes_its_tolerances_from_knowledge(path, knowledge):
    """Every string that starts with a dtype is the name of a tolerance."""
    texts = {
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    tolerance_names = {
        text for text in texts if text.startswith(("float32-", "float16-", "float64-", "bfloat16-", "int-"))
    }

    assert tolerance_names <= set(knowledge.tolerances)
