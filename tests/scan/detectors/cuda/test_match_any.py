from __future__ import annotations

import pytest

RULE = "match_any"
CALL = "__device__ unsigned f(int key) {\n  return __match_any_sync(mask, key);\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL.replace("\n", "\r\n"), [(2, 10)]),
        (CALL.replace("  return", "/* é */ return"), [(2, 16)]),
        ("#define PEERS(m, g) \\\n    __match_any_sync((m), (g))\n", [(2, 5)]),
        (CALL + CALL, [(2, 10), (5, 10)]),
        (b"// \xff\n" + CALL.encode(), [(3, 10)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected
