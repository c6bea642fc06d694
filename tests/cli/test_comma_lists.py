"""Repeated values and values separated by commas."""

from __future__ import annotations

import pytest

from rocm3d.cli.comma_lists import split_commas


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], ()),
        (["a"], ("a",)),
        (["a", "b"], ("a", "b")),
        (["a,b"], ("a", "b")),
        (["a, b", "c"], ("a", "b", "c")),
        (["a,"], ("a", "")),
        ([""], ("",)),
    ],
)
def test_values_are_split_at_commas(values, words):
    assert split_commas(values) == words
