from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_group_reduce import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp

REDUCE = {
    "header": "cooperative_groups/reduce.h",
    "function": "reduce",
    "operations": ["plus", "less", "greater"],
    "others": ["reduce_update_async"],
}
HEAD = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n"


def kernel(body: str, head: str = HEAD) -> bytes:
    return f"{head}__device__ int f(int v, cg::thread_block_tile<16> small) {{\n  {body}\n}}\n".encode()


@pytest.mark.parametrize(
    "data",
    [
        kernel("auto g = cg::coalesced_threads(); return cg::reduce(g, v, cg::plus<int>());"),
        kernel("return cg::reduce(cg::this_thread_block(), v, cg::plus<int>());"),
        kernel("return cg::reduce(unknown, v, cg::plus<int>());"),
        kernel("return cg::reduce(small, v, cg::bit_and<int>());"),
        kernel("return cg::reduce(small, v);"),
        kernel("return SUM(v);", HEAD + "#define SUM(v) cg::reduce(tile, v, cg::plus<int>())\n"),
        kernel("cg::reduce_update_async(small, a, v, cg::plus<int>());"),
        kernel("return reduce(small, v, plus<int>());", HEAD + "using namespace cooperative_groups;\n"),
        kernel("return reduce(small, v);", HEAD + "using cooperative_groups::reduce;\n"),
    ],
    ids=["coalesced", "block", "unknown", "operation", "two", "macro", "other", "using namespace", "using"],
)
def test_unsupported_code_is_refused(data):
    with pytest.raises(RewriteRefusedError):
        edit(data, REDUCE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#include <cooperative_groups.h>\n",
        "// #include <cooperative_groups/reduce.h>\n",
        "#ifndef USE_ROCM\n#include <cooperative_groups/reduce.h>\n#endif\n",
        "int f() { return my::reduce(a, b, c); }\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), REDUCE) == text.encode()


def test_hides_only_the_include_without_calls():
    before = kernel("return small.thread_rank(); // cg::reduce")

    after = proven_edit(edit, before, REDUCE)

    assert b"reduce.h" not in fold_cpp(after, assume_rocm)
    assert b"rocm3d" not in after


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return cg::reduce(small, v, cg::plus<int>());", b"return rocm3d_reduce(small, v, rocm3d_plus());"),
        (
            "auto t = cg::tiled_partition<8>(b);\n  return cooperative_groups::reduce(t, v + 1, cg::greater<int>{});",
            b"return rocm3d_reduce(t, v + 1, rocm3d_greater());",
        ),
        (
            "return cg::reduce(small, v, [](int a, int b) { return a * b; });",
            b"return rocm3d_reduce(small, v, [](int a, int b) { return a * b; });",
        ),
    ],
)
def test_reduces_a_tile_by_shuffles(body, expected):
    before = kernel(body)

    after = proven_edit(edit, before, REDUCE)

    on_rocm = fold_cpp(after, assume_rocm)
    assert expected in on_rocm
    assert b"T rocm3d_reduce(const Tile& tile" in on_rocm
    assert b"reduce.h" not in on_rocm
