from __future__ import annotations

import pytest

from rocm3d.apply.lanes import group_namespaces, is_tile
from rocm3d.syntax.cuda import CudaUnit


def tile(text: str) -> bool:
    unit = CudaUnit("", f"{text}\n".encode())
    call = next(call for call in unit.nodes("call_expression") if unit.slice(call).startswith("use("))
    arguments = call.child_by_field_name("arguments")
    assert arguments is not None
    return is_tile(unit, arguments.named_children[0])


@pytest.mark.parametrize(
    "text",
    [
        "void f() { auto t = cg::coalesced_threads(); use(t); }",
        "void f(cg::thread_block t) { use(t); }",
        "void f() { use(cg::this_thread_block()); }",
        "template <typename T> void f(T t) { use(t); }",
        "void f() { auto u = cg::tiled_partition<32>(b); use(t); }",
    ],
)
def test_other_groups_are_not_tiles(text):
    assert not tile(text)


@pytest.mark.parametrize(
    "text",
    [
        "void f() { auto t = cg::tiled_partition<32>(b); use(t); }",
        "void f() { cg::thread_block_tile<16> t = cg::tiled_partition<16>(b); use(t); }",
        "void f(const cg::thread_block_tile<32>& t) { use(t); }",
        "template <int N> void f(cooperative_groups::thread_block_tile<N> t) { use(t); }",
    ],
)
def test_tiles_of_fixed_size(text):
    assert tile(text)


def test_namespace_names():
    unit = CudaUnit("", b"namespace groups = ::cooperative_groups;\n")

    assert group_namespaces(unit) == ("cooperative_groups", "cg", "groups")
