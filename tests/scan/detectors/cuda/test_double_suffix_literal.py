from __future__ import annotations

import pytest

RULE = "double_suffix_literal"
TEXT = "bool f(double x) {\n  return x < 1e-6d;\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        *(
            TEXT.replace("1e-6d", number)
            for number in ("1e-6", "1e-6f", "0x1d", "0x7D", "7", "1.0L", "t.x2d", "mean2d")
        ),
        'double operator""d(long double x);\n' + TEXT,
        "// 1e-6d\n",
        'const char* s = "1e-6d";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "double x = 1e-",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize("number", ["1e-6d", "0.0d", "1.d", ".5d", "2.5E3D", "0.0D"])
def test_every_spelling(positions, number):
    assert positions(RULE, "a.cpp", TEXT.replace("1e-6d", number)) == [(2, 14)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT.replace("\n", "\r\n"), [(2, 14)]),
        (TEXT.replace("  return", "\t/* ß */ return"), [(2, 21)]),
        ("double a = 0.0d, b = -1.0d;\n", [(1, 12), (1, 23)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cpp", b"// \xff\n" + TEXT.encode()) == [(3, 14)]


def test_message_shows_the_literal(findings):
    (finding,) = findings(RULE, "a.cpp", TEXT)

    assert (finding.code, finding.severity) == ("CU306", "error")
    assert finding.message == "1e-6d has the suffix d, which is not standard C++; clang rejects it"
