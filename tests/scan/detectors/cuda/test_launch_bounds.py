from __future__ import annotations

import pytest

RULE = "launch_bounds"
TEXT = "__global__ void __launch_bounds__(256, 4) render(float* out) {}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace(", 4", ""),
        TEXT.replace("4", "1"),
        TEXT.replace("256, 4", "BLOCK_X * BLOCK_Y"),
        "// " + TEXT,
        'const char* s = "__launch_bounds__(256, 4)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "__launch_bounds__(",
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
        ("template <int C>\r\n" + TEXT, [(2, 17)]),
        ("__launch_bounds__(64, 2) __global__ void k() {}\n", [(1, 1)]),
        (TEXT.replace("256, 4", "256, /* blocks */ BLOCKS"), [(1, 17)]),
        ("/* ä */ " + TEXT, [(1, 25)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(2, 17)]


def test_message_shows_the_bounds_and_is_a_note(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU309", "note")
    assert finding.message.startswith("__launch_bounds__(256, 4) was tuned for NVIDIA;")
