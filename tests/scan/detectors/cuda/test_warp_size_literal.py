from __future__ import annotations

import pytest

RULE = "warp_size_literal"
KERNEL = "__global__ void f() {\n  int lane = threadIdx.x & 31;\n  if (lane == 0) g(__ballot_sync(full, p));\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KERNEL.replace("\n", "\r\n"), [(2, 14)]),
        (KERNEL.replace("  int", "/* é */ int"), [(2, 20)]),
        (KERNEL.replace("g(", "h(threadIdx.x >> 5, "), [(2, 14)]),
        (KERNEL + KERNEL, [(2, 14), (6, 14)]),
        (b"// \xff\n" + KERNEL.encode(), [(3, 14)]),
    ],
)
def test_position_is_the_first_of_each_function(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected
