"""Repeated values and values separated by commas."""

from __future__ import annotations

import pytest

from rocm3d.cli.words import parted


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
def test_words(values, words):
    assert parted(values) == words
