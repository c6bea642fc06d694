from __future__ import annotations

import pytest

RULE = "active_mask"
CALL = "__device__ void f() {\n  unsigned m = __activemask();\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL, [(2, 16)]),
        (CALL.replace("\n", "\r\n"), [(2, 16)]),
        (CALL.replace("  unsigned", "/* é */ unsigned"), [(2, 22)]),
        (CALL.replace("unsigned m = __activemask()", "int n = __popc(__activemask())"), [(2, 18)]),
        ("int first() { return __ffs(__activemask()) - 1; }\n", [(1, 28)]),
        (b"// \xff\n" + CALL.encode(), [(3, 16)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected
