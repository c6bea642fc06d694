from __future__ import annotations

import pytest

RULE = "max_registers"
TEXT = "__global__ void __maxnreg__(64) blend(float* out) {}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("__maxnreg__(64) ", ""),
        TEXT.replace("__maxnreg__", "__launch_bounds__"),
        TEXT.replace("__maxnreg__", "my__maxnreg__"),
        "// " + TEXT,
        "/* __maxnreg__(64) */\n",
        'const char* s = "__maxnreg__(64)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "#ifdef __maxnreg__\n#endif\n",
        "__maxnreg__(",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (TEXT, [(1, 17)]),
        (TEXT.replace("(64)", " ( REGS )"), [(1, 17)]),
        ("int a;\r\n\t" + TEXT, [(2, 18)]),
        ("/* ä */ " + TEXT, [(1, 25)]),
        (TEXT + TEXT, [(1, 17), (2, 17)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.cu", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(2, 17)]


def test_message_shows_the_limit(findings):
    (found,) = findings(RULE, "a.cu", TEXT)

    assert (found.code, found.severity) == ("CU310", "error")
    assert found.message == "__maxnreg__(64) limits NVIDIA registers; HIP does not support it"
