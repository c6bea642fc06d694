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
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(1, 17)]),
        (TEXT.replace("(64)", " ( REGS )"), [(1, 17)]),
        ("int a;\r\n\t" + TEXT, [(2, 18)]),
        ("/* ä */ " + TEXT, [(1, 25)]),
        (TEXT + TEXT, [(1, 17), (2, 17)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(2, 17)]


def test_message_shows_the_limit(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU310", "error")
    assert finding.message == "__maxnreg__(64) limits NVIDIA registers; HIP does not support it"
