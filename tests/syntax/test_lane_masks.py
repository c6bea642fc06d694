from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import NarrowReceivers, ancestors_with_child, arguments, function_name
from rocm3d.syntax.unit import walk


def call(unit: CudaUnit, name: str):
    return next(node for node in unit.nodes("call_expression") if function_name(unit, node) == name)


@pytest.mark.parametrize(
    ("text", "taker"),
    [
        ("void f() { g(v()); }", None),
        ("void f() { auto m = v(); }", None),
        ("void f() { unsigned long m = v(); }", None),
        ("void f() { unsigned m = h(v()); }", None),
        ("void f() { unsigned m = v() + 1; }", None),
        ("void f() { undeclared = v(); }", None),
        ("void f() { unsigned* m = v(); }", None),
        ("void f() { unsigned m = v(); }", "unsigned m"),
        ("void f() { unsigned m = 0, k = (v() & 3) | 4; }", "unsigned k"),
        ("void f() { const uint32_t m = on ? v() : 0; }", "uint32_t m"),
        ("void f() { g((int)v()); }", "int"),
        ("void f() { g(narrow(~v())); }", "narrow"),
        ("unsigned f() { return v(); }", "unsigned"),
        ("unsigned m; void f() { m = v(); }", "unsigned m"),
    ],
)
def test_receiver_32bit(text, taker):
    unit = CudaUnit("a.cu", text.encode())

    assert NarrowReceivers(unit, {"narrow"}).receiver_32bit(call(unit, "v")) == taker


def test_name_and_arguments_of_a_call():
    unit = CudaUnit("a.cu", b"void f() { a::b::g<int>(1, /* two */ 2); }")
    (node,) = unit.nodes("call_expression")

    assert function_name(unit, node) == "g"
    assert [unit.slice(entry) for entry in arguments(node)] == ["1", "2"]


def test_walk_to_ancestors_is_limited():
    unit = CudaUnit("a.cu", b"void f() {" + b"{" * 900 + b"v();" + b"}" * 900 + b"}")
    ancestors = list(ancestors_with_child(call(unit, "v"), unit.parents))

    assert 100 < len(ancestors) < 1000


@given(st.text(alphabet="unsigned m=v()&|;{}<>,*~ \n", max_size=80))
def test_any_text_does_not_raise(text):
    unit = CudaUnit("a.cu", text.encode())
    above = unit.parents

    assert all(above[node.id] == node.parent for node in walk(unit.tree.root_node) if node.parent is not None)
    for node in unit.nodes("call_expression"):
        taker = NarrowReceivers(unit, ()).receiver_32bit(node)
        assert taker is None or taker.split()[0] in text
