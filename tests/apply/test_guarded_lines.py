from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.guarded_lines import (
    LineReplacement,
    Replacement,
    guard_lines,
    insert_guarded,
    offset_after_includes,
    replace_lines,
)
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

IF = b"#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)\n"


def replaced(text: str, token: str = "OLD", new: str = "NEW", **parameters) -> bytes:
    data = text.encode()
    result = [Replacement(match.start(), match.end(), new.encode()) for match in re.finditer(token.encode(), data)]
    return guard_lines(data, result, parameters)


@pytest.mark.parametrize(
    "text",
    [
        "#define X OLD\n",
        "#define X \\\n  OLD\n",
        "f(\n#ifdef Y\n OLD\n#endif\n);\n",
        "int a = OLD;",
        "f(" + "\n" * 40 + "OLD);\n",
    ],
    ids=["directive", "continuation", "directive in the call", "no newline at the end", "too long"],
)
def test_refused_edits(text):
    with pytest.raises(RewriteRefusedError):
        replaced(text)


def test_overlapping_edits_are_refused():
    data = b"int abc;\n"

    with pytest.raises(RewriteRefusedError, match="overlap"):
        guard_lines(data, [Replacement(4, 6, b"x"), Replacement(5, 7, b"y")], {})


def test_no_replacements_leave_the_file_unchanged():
    assert guard_lines(b"int a;\n", [], {}) == b"int a;\n"


def test_single_line_edit():
    assert replaced("int a;\n  b = OLD;\nint c;\n") == (
        b"int a;\n" + IF + b"  b = NEW;\n#else\n  b = OLD;\n#endif\nint c;\n"
    )


def test_the_guard_of_torchs_build():
    assert replaced("a = OLD;\n", guard="torch").startswith(b"#if defined(USE_ROCM)\n")


def test_a_call_over_several_lines_stays_together():
    assert replaced("f(a,\n  OLD,\n  b);\nend;\n") == (
        IF + b"f(a,\n  NEW,\n  b);\n#else\nf(a,\n  OLD,\n  b);\n#endif\nend;\n"
    )


def test_parentheses_of_an_earlier_function_do_not_count():
    text = "void f() {\n  if (broken( {\n}\nvoid g() {\n  OLD;\n}\n"

    assert replaced(text).endswith(b"#else\n  OLD;\n#endif\n}\n")


def test_edits_of_one_call_share_a_guard():
    assert replaced("f(OLD,\n  OLD);\n").count(b"#if") == 1


def test_line_ends_are_preserved():
    assert b"\n" not in replaced("a = OLD;\r\n").replace(b"\r\n", b"")


def test_guarded_insertion():
    data = b"#include <a>\n#ifdef X\n#include <b>\n#endif\n#include <c>\nint a;\n"

    at = offset_after_includes(data)

    assert data[at:] == b"int a;\n"
    assert insert_guarded(data, "int h;\n", {}).endswith(b"#include <c>\n" + IF + b"int h;\n#endif\nint a;\n")
    assert offset_after_includes(b"int a;\n") == 0
    with pytest.raises(RewriteRefusedError):
        offset_after_includes(b"#include <a>")


@pytest.mark.parametrize(
    "chosen",
    [[LineReplacement(0, 12, "")], [LineReplacement(0, 13, ""), LineReplacement(7, 13, "")]],
    ids=["no newline", "overlap"],
)
def test_invalid_line_replacements_are_refused(chosen):
    with pytest.raises(RewriteRefusedError):
        replace_lines(b"#include <a>\nint a;\n", chosen, {})


@pytest.mark.parametrize(
    ("rocm", "parameters", "expected"),
    [
        ("#include <b>\n", {}, IF + b"#include <b>\n#else\n#include <a>\n#endif\n"),
        ("", {"guard": "torch"}, b"#if defined(USE_ROCM)\n#else\n#include <a>\n#endif\n"),
        (None, {"guard": "torch"}, b"#if !defined(USE_ROCM)\n#include <a>\n#endif\n"),
        (None, {}, b"#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)\n#include <a>\n#endif\n"),
    ],
)
def test_complete_lines_are_replaced_by_backend(rocm, parameters, expected):
    before = b"#include <a>\nint a;\n"

    after = replace_lines(before, [LineReplacement(0, 13, rocm)], parameters)

    assert after == expected + b"int a;\n"
    assert prove_isolation("x.cu", before, after).holds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#pragma once\nint a;\n", "int a;\n"),
        ("#ifndef A_H\n#define A_H\n#include <a>\nint a;\n#endif\n", "int a;\n#endif\n"),
        ("#ifndef A_H\n#define A_H\nint a;\n#endif\n", "int a;\n#endif\n"),
        ("#ifdef X\n#include <a>\n#else\n#include <b>\n#endif\nint a;\n", "int a;\n"),
        ("#include <a>\nUSE;\n#include <b>\n", "USE;\n#include <b>\n"),
        ("#include <a>\n#ifdef X\nUSE;\n#include <b>\n#endif\n", "#ifdef X\nUSE;\n#include <b>\n#endif\n"),
    ],
    ids=[
        "pragma",
        "include guard",
        "include guard alone",
        "chosen include",
        "include behind the use",
        "use in a branch",
    ],
)
def test_offset_after_includes(text, expected):
    data = text.encode()
    use = data.find(b"USE")

    assert data[offset_after_includes(data, use if use >= 0 else None) :] == expected.encode()


def test_include_inside_braces_is_refused():
    with pytest.raises(RewriteRefusedError, match="braces"):
        offset_after_includes(b"namespace a {\n#include <a>\n}\n")


def test_only_a_short_block_is_copied_completely():
    assert replaced("int f(OLD a) {\n  return 1;\n}\nint g;\n").endswith(b"}\n#endif\nint g;\n")
    assert replaced("if (OLD) {\n" + "  a;\n" * 9 + "}\n").count(b"  a;") == 9
    assert b"#else\n} else if (OLD) {\n#endif\n" in replaced("if (a) {\n} else if (OLD) {\n  b;\n}\n")


def test_lines_that_follow_each_other_share_a_guard():
    assert replaced("a = OLD;\nb = OLD;\n").count(b"#if") == 1
    assert replaced("a = OLD;\n" * 30).count(b"#if") > 1


pieces = st.lists(st.sampled_from(["OLD", "f(", ")", "a", ";\n", "\n", "// OLD\n", '"(" ', "{", "}\n"]), max_size=25)


@given(pieces)
def test_every_accepted_edit_is_proven_and_effective_on_rocm(parts):
    text = " ".join(parts) + "\n"
    data = text.encode()
    shown = re.sub(rb"//.*", lambda match: b" " * len(match.group()), data)
    result = [Replacement(match.start(), match.end(), b"NEW") for match in re.finditer(b"OLD", shown)]
    try:
        after = guard_lines(data, result, {})
    except RewriteRefusedError:
        return
    assert prove_isolation("x.cu", data, after).holds or b"(" in data
    on_rocm = fold_cpp(after, assume_rocm)
    assert on_rocm.count(b"NEW") == len(result)
