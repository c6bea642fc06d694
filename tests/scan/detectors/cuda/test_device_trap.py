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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (TEXT, [(2, 12)]),
        (TEXT.replace("__trap", "__brkpt"), [(2, 12)]),
        (TEXT.replace("__trap", "::__trap"), [(2, 12)]),
        (TEXT.replace("  if", "\t/* ö */ if").replace("\n", "\r\n"), [(2, 19)]),
        (f"#ifdef CHECKED\n{TEXT}#endif\n", [(3, 12)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.h", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 12)]


def test_message_names_the_call(findings):
    (found,) = findings(RULE, "a.cu", TEXT)

    assert (found.code, found.severity, found.message) == ("CU302", "error", "__trap is not declared in HIP")
