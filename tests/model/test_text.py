"""Lines and columns in characters, for any bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.text import Text, replace_surrogates

# A small alphabet, so that line ends and wide characters are often adjacent.
MIXED = st.lists(st.sampled_from(["\n", "\r\n", "\r", "a", "\t", "é", "€", "😀", "\u2028", "e\u0301"]), max_size=40)


@given(parts=MIXED, data=st.data())
def test_position_agrees_with_a_naive_count(parts, data):
    text = "".join(parts)
    index = data.draw(st.integers(0, len(text)))
    before = text[:index]
    line = 1 + before.count("\n")
    column = 1 + len(before.split("\n")[-1])
    offset = len(before.encode())
    assert Text(text.encode()).position(offset) == (line, column)
    assert Text(text.encode()).line_of(offset) == line


@given(content=st.binary(max_size=60), data=st.data())
def test_any_bytes_have_positions(content, data):
    """Invalid UTF-8 does not change the line."""
    offset = data.draw(st.integers(0, len(content)))
    line, column = Text(content).position(offset)
    start = content.rfind(b"\n", 0, offset) + 1
    assert line == 1 + content.count(b"\n", 0, offset)
    assert 1 <= column <= offset - start + 1


@given(content=st.binary(max_size=60), data=st.data())
def test_position_does_not_depend_on_earlier_calls(content, data):
    text = Text(content)
    for offset in data.draw(st.lists(st.integers(0, len(content)), max_size=8)):
        assert text.position(offset) == Text(content).position(offset)


def test_many_positions_in_one_long_line():
    """With a quadratic algorithm this would time out."""
    text = Text(b"x" * 2_000_000)

    assert [text.position(offset)[1] for offset in range(0, 2_000_000, 20)][-1] == 1_999_981


@pytest.mark.parametrize(
    ("content", "offset", "path"),
    [
        (b"", 0, (1, 1)),
        (b"\n", 0, (1, 1)),
        (b"\n", 1, (2, 1)),
        (b"ab\ncd", 4, (2, 2)),
        (b"ab\r\ncd", 4, (2, 1)),
        ("é = x".encode(), 5, (1, 5)),
        (b"\xff\xff x", 3, (1, 4)),
    ],
)
def test_position_of_an_offset(content, offset, path):
    assert Text(content).position(offset) == path


@pytest.mark.parametrize(
    ("content", "newline"),
    [
        (b"", b"\n"),
        (b"no end", b"\n"),
        (b"a\nb\n", b"\n"),
        (b"a\r\nb\r\n", b"\r\n"),
        (b"a\r\nb\r\nc\n", b"\r\n"),
        (b"a\r\nb\nc\n", b"\n"),
        (b"a\r\nb\n", b"\n"),
        (b"a\rb\r", b"\n"),
    ],
)
def test_newline_is_the_one_used_most(content, newline):
    assert Text(content).newline == newline


@given(st.text(st.characters(), max_size=20))
def test_surrogates_are_replaced_one_by_one(text):
    result = replace_surrogates(text)

    assert len(text) == len(result)
    assert result.encode().decode() == result
    assert all(before == after or "\ud800" <= before <= "\udfff" for before, after in zip(text, result, strict=True))


def test_other_characters_stay():
    assert "caf\u00e9 \U0001f600 ?" == replace_surrogates("caf\u00e9 \U0001f600 \udcff")
