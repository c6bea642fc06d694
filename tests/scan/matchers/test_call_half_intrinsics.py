from __future__ import annotations

import pytest

RULE = "half_intrinsics"
TEXT = "__device__ half2 f(half2 a, half2 b) {\n  return __hmin2(a, b);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("__hmin2", "__hadd2"),
        TEXT.replace("__hmin2", "__vcmpleu2"),  # missing_intrinsic
        TEXT.replace("__hmin2", "my::__hmin2"),
        TEXT.replace("__hmin2(a, b)", "__hmin2"),
        "__device__ half2 __hmin2(half2 a, half2 b);\n" + TEXT,
        "#ifdef USE_ROCM\n#define __hmin2(a, b) hmin2(a, b)\n#endif\n" + TEXT,
        "// __hmin2(a, b)\n",
        'const char* s = "__hmin2(a, b)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "__hmin2(",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 10)]),
        (TEXT.replace("__hmin2", "__hge2_mask"), [(2, 10)]),
        (TEXT.replace("__hmin2", "__hle2_mask").replace("\n", "\r\n"), [(2, 10)]),
        (TEXT.replace("  return", "\treturn"), [(2, 9)]),
        (TEXT.replace("__hmin2(a, b)", "__hmin2(a, __hmin2(a, b))"), [(2, 10), (2, 21)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 10)]


def test_message_says_what_is_missing(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU307", "error")
    assert finding.message == "__hmin2: reported missing from hip_fp16.h"
