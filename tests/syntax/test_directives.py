from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.directives import blanked, directives, with_closed_comment


def keywords(data: bytes) -> list[tuple[str, str]]:
    return [(entry.keyword, entry.argument) for entry in directives(data)]


NO_DIRECTIVE = {
    "block comment": b"/*\n#if A\n*/\nint x;\n",
    "block comment opened behind code": b"int x; /* text\n#if A\n#endif */ int y;\n",
    "unclosed block comment": b"int x; /*\n#if A\n",
    "line comment": b"// #if A\nint x;\n",
    "line comment with a trailing backslash": b"// see \\\n#if A\nint x;\n",
    "line comment with a trailing backslash and CRLF": b"// see \\\r\n#if A\r\nint x;\r\n",
    "string": b'const char* s = "\\\n#if A";\n',
    "string that only looks closed": b'const char* s = "a\\"\\\n#if A";\n',
    "raw string": b'const char* s = R"(\n#if A\n)";\n',
    "raw string with delimiter": b'auto s = R"x(\n)"\n#if A\n)x";\n',
    "raw string with prefix": b'auto s = u8R"(\n#if A\n)" LR"(\n#endif\n)";\n',
    "raw string with a lone quote": b'auto s = R"(\n"\n#if A\n)";\n',
    "macro continuation": b"#define X \\\n#if A\nint x;\n",
    "operator": b"int y = a #if A\n",
    "code before the hash": b"x; #if A\n",
    "comment that joins code and the hash": b"int x; /*\n*/ #if A\n",
}


@pytest.mark.parametrize("data", NO_DIRECTIVE.values(), ids=NO_DIRECTIVE)
def test_no_conditional_where_the_compiler_sees_none(data):
    assert [token for token, _ in keywords(data) if token != "define"] == []


DIRECTIVE = {
    "plain": (b"#if A\n", [("if", "A")]),
    "spaces before and behind the hash": (b" \t# \tif A\n", [("if", "A")]),
    "form feed": (b"\f#\vif A\n", [("if", "A")]),
    "behind a comment": (b"/* c */ #if A\n", [("if", "A")]),
    "behind a comment of two lines": (b"/* c\n d */ #if A\n", [("if", "A")]),
    "comment inside": (b"# /* c */ if /* d */ A // e\n", [("if", "A")]),
    "no newline at the end": (b"#if A\n#endif", [("if", "A"), ("endif", "")]),
    "CRLF": (b"#if A\r\n#endif\r\n", [("if", "A"), ("endif", "")]),
    "no space before the condition": (b"#if(A)\n", [("if", "(A)")]),
    "null directive": (b"#\n#if A\n", [("", ""), ("if", "A")]),
    "unknown": (b"#pragma once\n", [("pragma", "once")]),
    "spliced behind the hash": (b"#\\\nif A\n", [("if", "A")]),
    "digit separators are no characters": (b"int x = 1'000;\n#if A\nint y = 0x1'f;\n", [("if", "A")]),
    "character that is a quote": (b"char c = '\"';\n#if A\n", [("if", "A")]),
    "character that is a backslash": (b"char c = '\\\\';\n#if A\n", [("if", "A")]),
    "apostrophe in an error": (b"#error don't\n#if A\n", [("error", "don't"), ("if", "A")]),
    "unclosed string ends with its line": (b's = "abc\n#if A\n', [("if", "A")]),
    "identifier that ends in R is no raw string": (b'FOOR"(\n#if A\n', [("if", "A")]),
    "comment opened in a string is none": (b's = "/*";\n#if A\n', [("if", "A")]),
    "line comment in a block comment is none": (b"/* // */\n#if A\n", [("if", "A")]),
    "backslash that is not last": (b"// a \\ b\n#if A\n", [("if", "A")]),
    "odd bytes": (b"// \xff\xfe\n#if A\n", [("if", "A")]),
}


@pytest.mark.parametrize(("data", "expected"), DIRECTIVE.values(), ids=DIRECTIVE)
def test_finds_the_directive(data, expected):
    assert keywords(data) == expected


def test_condition_over_two_lines_is_one_directive():
    data = b"#if A && \\\n    B\nint x;\n"
    (result,) = directives(data)
    assert result.argument.split() == ["A", "&&", "B"]
    assert data[result.start : result.end] == b"#if A && \\\n    B\n"


def test_keyword_split_by_a_splice():
    assert keywords(b"#i\\\nf A\nint x;\n#end\\\r\nif\n") == [("if", "A"), ("endif", "")]


@pytest.mark.parametrize("data", [b"/\\\n* text\n#if A\n*/ int x;\n", b"/* text *\\\n/ int x; /*\n#if A\n*/\n"])
def test_comment_marker_split_by_a_splice(data):
    assert keywords(data) == []


def test_directive_behind_a_byte_order_mark_is_found():
    (result,) = directives(b"\xef\xbb\xbf#if A\n")
    assert (result.keyword, result.start) == ("if", 3)


def test_strings_of_conditions_are_distinguished():
    """Conditions that differ only in a header name are different."""
    (first,), (two,) = directives(b'#if __has_include("a.h")\n'), directives(b'#if __has_include("b.h")\n')
    assert first.argument != two.argument


PIECES = st.sampled_from(
    [b"/*", b"*/", b"//", b'"', b"'", b"\\", b"\n", b"\r\n", b"#if A", b"#endif", b'R"(', b')"', b"1'0", b"x ", b"\xff"]
)


@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_blanked_keeps_the_length(data):
    assert len(blanked(data)) == len(data)


@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_blanked_changes_bytes_only_into_spaces(data):
    assert all(new in (old, 32) for old, new in zip(data, blanked(data), strict=True))


@given(st.binary(max_size=200))
def test_blanked_accepts_any_bytes(data):
    assert len(blanked(data)) == len(data)


@given(
    st.lists(st.sampled_from([b"int x;", b"f(1'0);", b's = "a";', b"// c", b"", b"#if A"]), max_size=20), st.booleans()
)
def test_blanked_keeps_newlines_outside_comments(lines, crlf):
    newline = b"\r\n" if crlf else b"\n"
    data = b"".join(line + newline for line in lines)
    assert blanked(data).count(b"\n") == data.count(b"\n")
    assert [m.start() for m in re.finditer(b"\n", blanked(data))] == [m.start() for m in re.finditer(b"\n", data)]


@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_directives_are_in_order_and_end_with_their_line(data):
    at = 0
    for entry in directives(data):
        assert at <= entry.start < entry.end <= len(data)
        assert data[entry.end - 1 : entry.end] == b"\n" or entry.end == len(data)
        at = entry.end


# Cases in which the preprocessor reports an error or outputs `#if A` as text.
STAYS_IN_THE_TEXT = frozenset(
    {"unclosed block comment", "operator", "code before the hash", "comment that joins code and the hash"}
)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C++ preprocessor here")
@pytest.mark.parametrize("name", [name for name in NO_DIRECTIVE if name not in STAYS_IN_THE_TEXT])
def test_compiler_finds_no_directive(name):
    """`#if A` with A undefined would remove the following marker, so the marker must remain."""
    command = ["cc", "-x", "c++", "-std=c++17", "-E", "-P", "-w", "-"]
    ended = subprocess.run(command, input=NO_DIRECTIVE[name] + b"marker\n", capture_output=True, check=False)
    assert ended.returncode == 0
    assert ended.stdout.rstrip().endswith(b"marker")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"int x;\n",
        b"/* a */ int x;\n",
        b"int x; // a /* b\n",
        b'const char* s = "/*";\n',
        b"/* a /* b */\n",
        b"// a /* b",
        b"/**/",
    ],
)
def test_file_without_unclosed_comment_is_unchanged(data):
    assert with_closed_comment(data) == data


@pytest.mark.parametrize("data", [b"/*", b"/*/", b"int x; /* a\n#if A\n", b"/* a */ /* b", b"/* " * 1000])
def test_unclosed_comment_is_closed(data):
    assert with_closed_comment(data) == data + b"*/"


@given(st.lists(st.sampled_from([b"/*", b"*/", b"//", b"\n", b'"', b"'", b"a", b"\\", b"/", b"*"]), max_size=20))
def test_closing_comments_is_idempotent(parts):
    data = b"".join(parts)
    assert with_closed_comment(data).startswith(data)
    assert with_closed_comment(with_closed_comment(data)) == with_closed_comment(data)
