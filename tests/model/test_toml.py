from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.toml import TomlError, parse

DEEP = "nests too deeply to be read as TOML"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = ", "is not valid TOML"),
        ("a" + ".a" * 100_000 + " = 1\n", DEEP),
        ("[" + "'a' . " * 20_000 + "b]\n", DEEP),
        ("x = {" + "a." * 70 + "b = 1}\n", DEEP),
        ("x = " + "[" * 100_000, DEEP),
        ("a = 1\n" * 60_000, "is too large"),
        ("a = " + "9" * 10_000, "is not valid TOML"),
    ],
    ids=["syntax", "key", "heading", "inline table", "lists", "size", "digits"],
)
def test_invalid_toml_is_reported(text, reason):
    """Deep keys would take minutes and gigabytes."""
    with pytest.raises(TomlError, match=reason):
        parse(text.encode())


def test_other_encodings_are_reported():
    with pytest.raises(TomlError, match="is not UTF-8"):
        parse("a = 'é'".encode("latin-1"))


def test_long_rows_of_numbers_and_dotted_prose_are_no_deep_keys():
    text = (
        "x = [" + "1.5, " * 500 + "]\n# " + "a." * 500 + "\ny = '" + "a." * 500 + "'\nz = '''\n" + "b." * 99 + "'''\n"
    )

    assert {"x", "y", "z"} == set(parse(text.encode()))


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_reported(text):
    with contextlib.suppress(TomlError):
        assert isinstance(parse(text.encode()), dict)
