from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lanes import Values, arguments, function_name, upward
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
def test_what_takes_a_value(text, taker):
    unit = CudaUnit("a.cu", text.encode())

    assert Values(unit, {"narrow"}).kept_in_32_bits(call(unit, "v")) == taker


def test_name_and_arguments_of_a_call():
    unit = CudaUnit("a.cu", b"void f() { a::b::g<int>(1, /* two */ 2); }")
    (node,) = unit.nodes("call_expression")

    assert function_name(unit, node) == "g"
    assert [unit.slice(item) for item in arguments(node)] == ["1", "2"]


def test_the_way_up_is_bounded():
    unit = CudaUnit("a.cu", b"void f() {" + b"{" * 900 + b"v();" + b"}" * 900 + b"}")
    way = list(upward(call(unit, "v"), unit.parents))

    assert 100 < len(way) < 1000


@given(st.text(alphabet="unsigned m=v()&|;{}<>,*~ \n", max_size=80))
def test_any_text_is_survived(text):
    unit = CudaUnit("a.cu", text.encode())
    above = unit.parents

    assert all(above[node.id] == node.parent for node in walk(unit.tree.root_node) if node.parent is not None)
    for node in unit.nodes("call_expression"):
        taker = Values(unit, ()).kept_in_32_bits(node)
        assert taker is None or taker.split()[0] in text
