from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.cmake import is_cmake, read

TABLE: dict[str, tuple[str, list[tuple[str, tuple[str, ...], int, int]]]] = {
    "empty": ("", []),
    "comment": ("# project(x)\n", []),
    "bracket comment": ("#[[ project(x)\nproject(y) ]] project(z)\n", [("project", ("z",), 2, 15)]),
    "bracket comment with signs": ("#[=[ ]] project(x) ]=]project(z)\n", [("project", ("z",), 1, 23)]),
    "plain": ("project(x LANGUAGES CXX CUDA)\n", [("project", ("x", "LANGUAGES", "CXX", "CUDA"), 1, 1)]),
    "upper case": ("PROJECT(x)\n", [("project", ("x",), 1, 1)]),
    "no arguments": ("else()\n", [("else", (), 1, 1)]),
    "space before the parenthesis": ("if (A)\n", [("if", ("A",), 1, 1)]),
    "several lines": ("set(A\n  b\n  c)\nfoo()\n", [("set", ("A", "b", "c"), 1, 1), ("foo", (), 4, 1)]),
    "two on a line": ("a() b()\n", [("a", (), 1, 1), ("b", (), 1, 5)]),
    "quoted": ('set(A "b c;d # no comment (x)")\n', [("set", ("A", "b c;d # no comment (x)"), 1, 1)]),
    "quoted with escapes": ('set(A "b \\" c")\nx()\n', [("set", ("A", 'b \\" c'), 1, 1), ("x", (), 2, 1)]),
    "quoted over lines": ('set(A "b\nc")\nx()\n', [("set", ("A", "b\nc"), 1, 1), ("x", (), 3, 1)]),
    "bracket argument": ("set(A [==[b ]] ) c]==])\n", [("set", ("A", "b ]] ) c"), 1, 1)]),
    "comment among arguments": ("set(A # b\n  c #[[d]] e)\n", [("set", ("A", "c", "e"), 1, 1)]),
    "nested parentheses": ("if((A) AND B)\n", [("if", ("(", "A", ")", "AND", "B"), 1, 1)]),
    "generator expression": ("f($<$<X:CUDA>:-O3>)\n", [("f", ("$<$<X:CUDA>:-O3>",), 1, 1)]),
    "umlaut": ("a(ö) b()\n", [("a", ("ö",), 1, 1), ("b", (), 1, 6)]),
    "CRLF": ("a(b)\r\n  c(d)\r\n", [("a", ("b",), 1, 1), ("c", ("d",), 2, 3)]),
    "word without parenthesis": ("hello\nproject(x)\n", [("project", ("x",), 2, 1)]),
    "inner quotes": ('f(-DA="b c" d)\n', [("f", ('-DA="b c"', "d"), 1, 1)]),
}


@pytest.mark.parametrize(("text", "expected"), TABLE.values(), ids=TABLE)
def test_commands(text, expected):
    result = read("CMakeLists.txt", text.encode())

    assert [(entry.name, entry.arguments, entry.line, entry.column) for entry in result.commands] == expected
    assert result.unread == ()


@pytest.mark.parametrize("text", ["project(x\n", 'set(A "b\n', "set(A [[b\n", "if((A)\n"])
def test_unclosed_command_is_reported(text):
    result = read("CMakeLists.txt", text.encode())

    assert [line for line, _ in result.unread] == [1]


@pytest.mark.parametrize("path", ["CMakeLists.txt.in", "cmake.txt", "a/CMakeLists.md", "cmake"])
def test_is_not_cmake(path):
    assert not is_cmake(path)


@pytest.mark.parametrize("path", ["CMakeLists.txt", "a/b/CMakeLists.txt", "cmake/FindX.cmake", "X.CMAKE"])
def test_is_cmake(path):
    assert is_cmake(path)


def text_from(data: bytes, line: int, column: int) -> str:
    return data.decode("utf-8", "replace").split("\n")[line - 1][column - 1 :]


@given(st.binary(max_size=200))
def test_any_bytes_do_not_raise(data):
    for command in read("CMakeLists.txt", data).commands:
        assert text_from(data, command.line, command.column).lower().startswith(command.name)


@given(st.lists(st.sampled_from(["a(b)", "#[[", "]]", "[[", '"', "(", ")", "\n", "\r\n", " # x", "\\", "é", "f"])))
def test_command_positions(parts):
    data = "".join(parts).encode()
    result = read("CMakeLists.txt", data)

    assert result.data == data
    assert all(text_from(data, entry.line, entry.column).lower().startswith(entry.name) for entry in result.commands)
    places = [(entry.line, entry.column) for entry in result.commands]
    assert places == sorted(set(places))
