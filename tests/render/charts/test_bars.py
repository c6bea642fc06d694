from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from rocm3d.render.charts.bars import Bar, bar_chart


def pictures(*rows: Bar) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", bar_chart("Time", rows), re.DOTALL)]


def lengths(picture: ElementTree.Element) -> list[float]:
    return [float(entry.get("width")) for entry in picture.iter("rect") if entry.get("class").startswith("bar")]


@pytest.mark.parametrize("share", [-1.0, 0.0, 5.0])
def test_no_bar_exceeds_its_area(share):
    for picture in pictures(Bar("a", "1 s", share)):
        (box,) = picture.iter("rect")
        assert float(box.get("x")) + float(box.get("width")) <= float(picture.get("viewBox").split()[2])
        assert float(box.get("width")) > 0


def test_bars_are_as_long_as_their_share():
    wide, narrow = pictures(Bar("a", "2 s", 1.0), Bar("b", "1 s", 0.5))

    for picture in (wide, narrow):
        complete, half = lengths(picture)
        assert complete == pytest.approx(2 * half)


def test_every_row_has_its_label_and_number_in_words_too():
    for picture in pictures(Bar("attention: AOTriton", "41 ms", 1.0), Bar("x" * 200, "1 ms", 0.1)):
        words = [entry.text or "" for entry in picture.iter("text")]
        assert "41 ms" in words
        assert picture.get("aria-label").startswith("Time: attention: AOTriton, 41 ms; ")
        assert any(entry.text == f"{'x' * 200}: 1 ms" for entry in picture.iter("title"))


def test_a_bar_of_something_shows_the_total():
    for picture in pictures(Bar("GPU", "1 of 4", 0.25, has_track=True)):
        track, bar = picture.iter("rect")
        assert track.get("class") == "track"
        assert float(track.get("width")) == pytest.approx(4 * float(bar.get("width")))
