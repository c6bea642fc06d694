from __future__ import annotations

import pytest

RULE = "sync_warp"
CALL = "__device__ void f() {\n  __syncwarp();\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL, [(2, 3)]),
        (CALL.replace("()", "(mask)").replace("\n", "\r\n"), [(2, 3)]),
        (CALL.replace("  __", "/* é */ __"), [(2, 9)]),
        (CALL + CALL, [(2, 3)]),
        ("#define SYNC() \\\n  __syncwarp()\n", [(2, 3)]),
        (f"#ifndef USE_ROCM\n{CALL}#endif\n{CALL}", [(7, 3)]),
        (b"// \xff\n" + CALL.encode(), [(3, 3)]),
    ],
)
def test_position_is_the_first_call_of_the_file(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected
