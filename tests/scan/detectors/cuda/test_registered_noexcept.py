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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cpp", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (TEXT, [(3, 24)]),
        (TEXT.replace("\n", "\r\n"), [(3, 24)]),
        (f"#ifdef WITH_PYTHON\n{TEXT}#endif\n", [(4, 24)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "version.cpp", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cpp", b"// \xff\n" + TEXT.encode()) == [(4, 24)]


def test_message_names_the_function(findings):
    (found,) = findings(RULE, "a.cpp", TEXT)

    assert "&points::version is noexcept" in found.message
