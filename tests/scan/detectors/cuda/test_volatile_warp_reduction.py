from __future__ import annotations

import pytest

RULE = "volatile_warp_reduction"
TAIL = (
    "__device__ void f(volatile float* s, int t) {\n  s[t] += s[t + 16];\n  s[t] += s[t + 8];\n  s[t] += s[t + 4];\n}\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TAIL, [(2, 11)]),
        (TAIL.replace("\n", "\r\n"), [(2, 11)]),
        (TAIL.replace("  s[t] += s[t + 16]", "/* é */ s[t] = fmaxf(s[t], s[t + 16])"), [(2, 28)]),
        (TAIL.replace("float* s, int t) {", "float* s, int t) { __syncthreads();"), [(2, 11)]),
        ("void f(float* d) { volatile float* v = d; v[t] += v[t+4]; v[t] += v[t+2]; v[t] += v[t+1]; }\n", [(1, 51)]),
        (b"// \xff\n" + TAIL.encode(), [(3, 11)]),
    ],
)
def test_position_is_the_first_step(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected
