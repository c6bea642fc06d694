from __future__ import annotations

import pytest

RULE = "registered_noexcept"
TEXT = """int64_t version() noexcept { return 1; }
static auto registry = torch::RegisterOperators().op(
    "points::version", &points::version);
"""


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace(" noexcept", ""),
        TEXT.replace("&points::version", "[] { return points::version(); }"),
        TEXT.replace("version()", "version(int a)"),
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "// noexcept",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cpp", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(3, 24)]),
        (TEXT.replace("\n", "\r\n"), [(3, 24)]),
        (f"#ifdef WITH_PYTHON\n{TEXT}#endif\n", [(4, 24)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "version.cpp", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cpp", b"// \xff\n" + TEXT.encode()) == [(4, 24)]


def test_message_names_the_function(findings):
    (finding,) = findings(RULE, "a.cpp", TEXT)

    assert "&points::version is noexcept" in finding.message
