from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.unit import walk

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").rglob("*.*"))
SOURCES = [path for path in EXAMPLES if path.suffix in (".py", ".cu", ".cuh", ".cpp", ".h") and path.is_file()]


def unit(path: Path) -> PythonUnit | CudaUnit:
    return (PythonUnit if path.suffix == ".py" else CudaUnit)(path.name, path.read_bytes())


@pytest.mark.parametrize("data", [b"", b"\xff\x00", b"(" * 5000, b"}" * 5000, b"a" * 100_000])
def test_broken_code_has_nodes(data):
    for kind in (PythonUnit, CudaUnit):
        held = kind("a", data)
        assert [node.id for node in walk(held.tree.root_node)] == [node.id for node in held.nodes(*held._walked[0])]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nodes_are_in_source_order(path):
    held = unit(path)
    every = list(walk(held.tree.root_node))
    kinds = sorted({node.type for node in every})
    for chosen in (kinds[:1], kinds[::2], kinds):
        assert [n.id for n in held.nodes(*chosen)] == [n.id for n in every if n.type in chosen]
    assert list(held.nodes("no_such_kind")) == []


@pytest.mark.parametrize("path", SOURCES[:20], ids=lambda path: path.name)
def test_parents_match_the_tree(path):
    held = unit(path)
    for node in walk(held.tree.root_node):
        above = node.parent
        while above is not None and not above.is_named:
            above = above.parent
        assert held.parents.get(node.id) == above


@given(st.binary(max_size=200))
def test_any_bytes_have_a_tree_and_their_text(data):
    held = CudaUnit("a.cu", data)
    for node in walk(held.tree.root_node):
        assert held.slice(node).startswith(held.head(node).rstrip("\N{REPLACEMENT CHARACTER}"))


def test_head_is_limited():
    held = CudaUnit("a.cu", b"void f() { g" + b"(1)" * 3000 + b"; short_name; }")
    calls = list(held.nodes("call_expression"))

    assert max(len(held.head(call)) for call in calls) <= 1024
    assert max(len(held.tail(call)) for call in calls) <= 1024
    assert all(held.slice(call).endswith(held.tail(call)) for call in calls)
    assert "short_name" in {held.head(node) for node in held.nodes("identifier")}


@pytest.mark.parametrize(("kind", "call"), [(PythonUnit, "call"), (CudaUnit, "call_expression")])
def test_deep_nesting_is_skipped_and_reported(kind, call):
    """In a chain, each call contains all text before it; reading every function name would be quadratic."""
    held = kind("a", b"f" + b"()" * 5000 + b";\n")
    shallow = kind("a", b"f" + b"()" * 100 + b";\n")

    assert "" == held.skip_reason  # the nodes were not requested yet
    assert 900 < len(list(held.nodes(call))) <= 1000
    assert "nests deeper than 1000 levels" in held.skip_reason
    assert (100, "") == (len(list(shallow.nodes(call))), shallow.skip_reason)
