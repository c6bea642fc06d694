from __future__ import annotations

import pytest

from rocm3d.model.counted import counted


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, "file"), "0 files"),
        ((1, "file"), "1 file"),
        ((2, "file"), "2 files"),
        ((1, "repository", "repositories"), "1 repository"),
        ((3, "repository", "repositories"), "3 repositories"),
    ],
)
def test_plural_except_for_one(arguments, text):
    assert counted(*arguments) == text
