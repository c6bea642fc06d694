from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.toml_text import TomlText, entries, listed, parsed, table_of

TEXT = """# "torch"
[a.b]
x = "torch"
"c" = 1
[[d]]
url = "https://host"
"""


@pytest.mark.parametrize("value", [None, 1, "a", [], {}])
def test_what_is_something_else_is_empty(value):
    assert {} == table_of(value, "a")
    assert [] == listed(value)
    assert [] == list(entries(value))


def test_a_value_that_is_not_there_stands_at_the_first_line():
    assert (1, 1) == TomlText(TEXT).place("gsplat", 0) == TomlText(TEXT).key("gsplat", 0)


def test_what_is_wrong_is_told():
    assert ({"a": 1}, None) == parsed(b"a = 1\n")
    assert parsed(b"a = ")[1]


def test_places_of_values_keys_and_headings():
    text = TomlText(TEXT)
    assert (3, 6) == text.place("torch", text.heading("a", "b"))
    assert (4, 2) == text.key("c", text.heading("a", "b"))
    assert TEXT.index("\nurl") == text.heading("d") + 1
    assert 0 == text.heading("e")


def test_each_literal_is_taken_once():
    text = TomlText('["a", "a"]')
    assert [(1, 3), (1, 8), (1, 1)] == [text.place("a", 0) for _ in range(3)]


@given(st.text(max_size=100))
def test_any_text_is_survived(given):
    text = TomlText(given)
    assert all(place >= 0 for place in text.headings.values())
    assert all(
        given.startswith(value, place) or "\\" in given for value, found in text.literals.items() for place in found
    )
