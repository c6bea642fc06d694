from __future__ import annotations

import pytest

RULE = "missing_intrinsic"
TEXT = "__device__ float f(float c) {\n  return __frcp_rz(c);\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT.replace("__frcp_rz(c)", "__frcp_rz (__frcp_rz(c))"), [(2, 10), (2, 21)]),
        (TEXT.replace("__frcp_rz", "::__frcp_rz"), [(2, 12)]),
        ("#define HALF(x) \\\n  (__frcp_rz(x) * .5f)\n", [(2, 4)]),
        (TEXT.replace("\n", "\r\n"), [(2, 10)]),
        (b"// \xff\n" + TEXT.encode(), [(3, 10)]),
        ("class { = ;\n" + TEXT, [(3, 10)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected
