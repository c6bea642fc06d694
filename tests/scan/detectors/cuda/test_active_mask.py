from __future__ import annotations

import pytest

RULE = "active_mask"
CALL = "__device__ void f() {\n  unsigned m = __activemask();\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("unsigned m", "unsigned long long m"),
        CALL.replace("unsigned m", "auto m"),
        CALL.replace("unsigned m = __activemask()", "v = __shfl_down_sync(__activemask(), v, 1)"),
        CALL.replace("unsigned m = __activemask()", "int n = __popcll(__activemask())"),
        CALL.replace("__activemask", "my__activemask"),
        "// unsigned m = __activemask();\n",
        "/* unsigned m = __activemask(); */\n",
        'const char* s = "unsigned m = __activemask()";\n',
        f"#if 0\n{CALL}#endif\n",
        f"#ifdef USE_ROCM\n{CALL}#endif\n",
        f"#ifndef USE_ROCM\n{CALL}#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", CALL) == []


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


def test_message(findings):
    (finding,) = findings(RULE, "a.cuh", CALL)

    assert finding.code == "CU106"
    assert finding.message.startswith("__activemask returns 64 bits on HIP")
