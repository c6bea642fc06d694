from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest

from rocm3d import pipeline


def declared_names() -> dict[str, str]:
    """The names that the type checker sees, and where they come from."""
    tree = ast.parse(inspect.getsource(pipeline))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.asname: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = pipeline.nothing


def test_declared_imports_match_the_table():
    assert declared_names() == pipeline._MODULE_OF


def test_every_name_can_be_imported():
    assert [] == [name for name in pipeline._MODULE_OF if not hasattr(pipeline, name)]


@pytest.mark.parametrize(
    ("name", "unloaded"),
    [
        ("support_matrix", {"rocm3d.apply", "rocm3d.plan", "rocm3d.verify", "rocm3d.scan"}),
        ("check_bundle", {"rocm3d.apply", "rocm3d.plan", "rocm3d.verify", "rocm3d.scan"}),
        ("PlanOptions", {"rocm3d.apply", "rocm3d.evidence", "rocm3d.verify", "rocm3d.toolchain"}),
    ],
)
def test_a_name_loads_the_stages_that_it_needs_and_no_others(name, unloaded):
    report = f"import sys; from rocm3d.pipeline import {name}; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True).stdout.split()

    assert set() == unloaded & set(loaded)
    assert "rocm3d.pipeline" in loaded
