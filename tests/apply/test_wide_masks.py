from __future__ import annotations

import pytest

from rocm3d.apply.lanes import lane_calls
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.wide_masks import widen_mask
from rocm3d.syntax.cuda import CudaUnit


def edits(body: str) -> list[tuple[str, str]]:
    data = f"__device__ int f(int t, unsigned m) {{ {body} }}\n".encode()
    unit = CudaUnit("", data)
    call = next(iter(lane_calls(unit, ["__activemask"])))
    assert call.node is not None
    return [(data[e.start : e.end].decode(), e.text.decode()) for e in widen_mask(unit, call.node, "__ballot(1)")]


@pytest.mark.parametrize(
    "body",
    [
        "unsigned a = __activemask(); unsigned b = a;",
        "unsigned a = __activemask(); a = m;",
        "unsigned a = __activemask(); x[0] = a;",
        "unsigned a = __activemask(); { unsigned a = 1; }",
        "unsigned a = __activemask(); return a >> 5;",
        "unsigned a = __activemask(); return __popc(a & ~m);",
        "unsigned a = __activemask(); return __popc(a & mask_lt(t));",
        "unsigned a = __activemask(); return __shfl_sync(-1, a, 0);",
        "unsigned a = __activemask(); return __shfl_sync(a, t, 0, 16);",
        "unsigned a = __activemask(); return __popc(~a);",
        "return __activemask();",
        "return h(__activemask());",
    ],
)
def test_operand_that_may_have_32_bits_is_refused(body):
    with pytest.raises(RewriteRefusedError):
        edits(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("unsigned a = __activemask();", [("unsigned", "unsigned long long")]),
        ("auto a = __activemask(); if (!a) g(); while (a != 0) g();", []),
        ("auto a = __activemask(); return (a >> t) & 1u;", []),
        ("auto a = __activemask(); return __popc(a & ~(1u << t));", [("__popc", "__popcll"), ("1u", "1ull")]),
        (
            "auto a = __activemask(); return __ffs(a & ((1 << t % 2) - 1));",
            [("__ffs", "__ffsll"), *[("1", "1ull")] * 2],
        ),
        ("auto a = __activemask(); return __shfl_sync(a, t, 0);", [("__shfl_sync", "__shfl"), ("a, ", "")]),
        ("return __ffs(__activemask());", [("__ffs", "__ffsll")]),
        ("if (__activemask() == 0) g();", []),
    ],
)
def test_known_uses_are_widened(body, expected):
    assert sorted(edits(body)) == sorted([("__activemask()", "__ballot(1)"), *expected])
