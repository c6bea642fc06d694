from __future__ import annotations

from xml.etree import ElementTree

import pytest

from rocm3d.render.charts.bars import histogram


@pytest.mark.parametrize("counts", [[], [0, 0], [-3, 1]])
def test_odd_counts_are_still_a_picture(counts):
    picture = ElementTree.fromstring(histogram("opacity", counts))

    assert all(float(entry.get("height")) >= 0 for entry in picture.iter("rect"))


def test_columns_are_as_high_as_their_counts_and_say_them():
    picture = ElementTree.fromstring(histogram("opacity", [1000, 2000]))
    low, high = (float(entry.get("height")) for entry in picture.iter("rect"))

    assert high == pytest.approx(2 * low)
    assert picture.get("aria-label") == "opacity from 0 to 1: 1,000, 2,000"
    assert [entry.text for entry in picture.iter("title")] == ["0.00 to 0.50: 1,000", "0.50 to 1.00: 2,000"]
