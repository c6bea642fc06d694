from __future__ import annotations

import pytest

from rocm3d.model.duration import describe_duration, parse_duration


@pytest.mark.parametrize("text", ["", "m", "-1", "1 w", "ten", "1e3", "inf"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="is not a duration, for example 600s, 20m or 2h"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("600", 600), ("600s", 600), (" 10 m ", 600), ("1.5h", 5400), ("1d", 86400), ("0", 0)]
)
def test_units(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(600, "10 minutes"), (7200, "2 hours"), (3600, "1 hour"), (90, "90 seconds"), (1, "1 second"), (0, "0 seconds")],
)
def test_largest_whole_unit(seconds, text):
    assert describe_duration(seconds) == text
