from __future__ import annotations

import pytest

RULE = "half_atomic"
TEXT = "__global__ void k(float* g, __half2 v) {\n  atomicAdd((__half2*)&g[2], v);\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 3)]),
        (TEXT.replace("(__half2*)&g[2]", "reinterpret_cast<__half2 *>(g + 2)"), [(2, 3)]),
        (TEXT.replace("(__half2*)&g[2]", "reinterpret_cast<__nv_bfloat162*>(&g[2])"), [(2, 3)]),
        (TEXT.replace("float* g", "half* __restrict__ g").replace("(__half2*)", ""), [(2, 3)]),
        (TEXT.replace("float* g", "half2 *g").replace("(__half2*)&g[2]", "g + 2"), [(2, 3)]),
        (TEXT.replace("atomicAdd", "::atomicAdd").replace("\n", "\r\n"), [(2, 3)]),
        (TEXT + TEXT, [(2, 3)]),
        (TEXT + TEXT.replace("(__half2*)", "(__half*)"), [(2, 3), (5, 3)]),
        (b"// \xff\n" + TEXT.encode(), [(3, 3)]),
        ("class { = ;\n" + TEXT, [(3, 3)]),
    ],
)
def test_positions(positions, text, expected):
    """Only the first call of each type is reported."""
    assert positions(RULE, "a.cuh", text) == expected
