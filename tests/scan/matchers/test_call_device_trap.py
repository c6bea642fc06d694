from __future__ import annotations

import pytest

RULE = "device_trap"
TEXT = "__device__ void f() {\n  if (bad) __trap();\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("__trap", "__builtin_trap"),
        TEXT.replace("__trap", "my::__trap"),
        TEXT.replace("__trap()", "a.__trap()"),
        "// __trap();\n",
        'const char* s = "__trap();";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        f"#ifdef USE_ROCM\n#define __trap() __builtin_trap()\n#endif\n{TEXT}",
        "__trap",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 12)]),
        (TEXT.replace("__trap", "__brkpt"), [(2, 12)]),
        (TEXT.replace("__trap", "::__trap"), [(2, 12)]),
        (TEXT.replace("  if", "\t/* ö */ if").replace("\n", "\r\n"), [(2, 19)]),
        (f"__device__ void __trap();\n{TEXT}", [(3, 12)]),
        (f"#ifdef CHECKED\n{TEXT}#endif\n", [(3, 12)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.h", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 12)]


def test_message_names_the_call(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity, finding.message) == ("CU302", "error", "__trap is not declared in HIP")
