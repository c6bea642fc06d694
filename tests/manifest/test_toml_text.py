from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.toml_text import TomlText, as_list, nested_table

TEXT = """# "torch"
[a.b]
x = "torch"
"c" = 1
[[d]]
url = "https://host"
"""


@pytest.mark.parametrize("value", [None, 1, "a", [], {}])
def test_other_types_are_empty(value):
    assert {} == nested_table(value, "a")
    assert [] == as_list(value)
    assert {} == nested_table(value)


def test_missing_value_gets_the_first_line():
    assert (1, 1) == TomlText(TEXT).value_position("gsplat", 0) == TomlText(TEXT).key_position("gsplat", 0)


def test_positions_of_values_keys_and_headings():
    text = TomlText(TEXT)
    assert (3, 6) == text.value_position("torch", text.heading_end("a", "b"))
    assert (4, 2) == text.key_position("c", text.heading_end("a", "b"))
    assert TEXT.index("\nurl") == text.heading_end("d") + 1
    assert 0 == text.heading_end("e")


def test_each_literal_is_used_once():
    text = TomlText('["a", "a"]')
    assert [(1, 3), (1, 8), (1, 1)] == [text.value_position("a", 0) for _ in range(3)]


@given(st.text(max_size=100))
def test_any_text_does_not_raise(arguments):
    text = TomlText(arguments)
    assert all(position >= 0 for position in text.headings.values())
    assert all(
        arguments.startswith(value, position) or "\\" in arguments
        for value, result in text.literals.items()
        for position in result
    )
