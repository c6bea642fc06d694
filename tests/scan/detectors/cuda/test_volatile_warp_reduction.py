from __future__ import annotations

import pytest

RULE = "volatile_warp_reduction"
TAIL = (
    "__device__ void f(volatile float* s, int t) {\n  s[t] += s[t + 16];\n  s[t] += s[t + 8];\n  s[t] += s[t + 4];\n}\n"
)


@pytest.mark.parametrize(
    "text",
    [
        TAIL.replace("volatile ", ""),
        TAIL.replace("  s[t] += s[t + 4];\n", ""),
        TAIL.replace("+ 16", "+ 8").replace("+ 4", "+ 8"),
        TAIL.replace("];\n", "]; __syncwarp();\n"),
        TAIL.replace("];\n", "]; __syncthreads();\n"),
        TAIL.replace("];\n", "]; tile.sync();\n"),
        TAIL.replace("s[t + 16]", "other[t + 16]"),
        TAIL.replace("volatile float* s", "float* s, volatile int* flag"),
        "void f() { volatile int x; x = a[t + 16] + a[t + 8] + a[t + 4]; }\n",
        TAIL.replace("  s[t]", "  // s[t]"),
        f"/*\n{TAIL}*/\n",
        f"#if 0\n{TAIL}#endif\n",
        f"#ifndef USE_ROCM\n{TAIL}#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TAIL) == []


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


def test_message_names_the_pointer(findings):
    (finding,) = findings(RULE, "a.cu", TAIL)

    assert finding.code == "CU109"
    assert finding.message.endswith("(volatile s)")
