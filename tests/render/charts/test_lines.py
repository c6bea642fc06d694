from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.render.charts.lines import ChartLine, Plot, SeparateValue, line_chart


def pictures(*shown: ChartLine, **values) -> list[ElementTree.Element]:
    plot = Plot("Steps", "step", lambda value: f"{value:g} s", 1.0, shown, **values)
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", line_chart(plot), re.DOTALL)]


def curve(picture: ElementTree.Element) -> list[tuple[float, float]]:
    (result,) = [entry for entry in picture.iter("polyline") if entry.get("class").startswith("curve")]
    return [tuple(map(float, pair.split(","))) for pair in result.get("points").split()]


def test_nothing_is_still_a_picture():
    assert len(pictures()) == 2


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats()), max_size=20))
def test_every_number_stays_inside(points):
    for picture in pictures(ChartLine("a", tuple(points))):
        width, height = map(float, picture.get("viewBox").split()[2:])
        assert all(0 <= x <= width and 0 <= y <= height for x, y in curve(picture))


def test_higher_is_more_and_right_is_later():
    for picture in pictures(ChartLine("a", ((1, 1.0), (2, 3.0)))):
        (x1, y1), (x2, y2) = curve(picture)
        assert x1 < x2
        assert y1 > y2


def test_one_point_is_a_dot():
    for picture in pictures(ChartLine("a", ((1, 1.0),))):
        assert [entry.get("class") for entry in picture.iter("rect")] == ["bar c0"]


def test_axes_have_numbers_and_names():
    for picture in pictures(ChartLine("a", ((0, 0.0), (100, 4.0)))):
        words = [entry.text for entry in picture.iter("text")]
        assert {"0 s", "4 s", "0", "100", "step"} <= set(words)


def test_a_separate_value_has_its_own_box_and_leaves_the_scale_alone():
    for picture in pictures(
        ChartLine("a", ((1, 0.2), (2, 0.2))),
        level=(0.2, "median 200 ms"),
        separate=SeparateValue("first step", "14 s", "70 x median"),
    ):
        words = [entry.text for entry in picture.iter("text")]
        (box,) = [entry for entry in picture.iter("rect") if entry.get("class") == "apart"]
        assert {"first step", "14 s", "70 x median", "median 200 ms", "0.2 s"} <= set(words)
        assert float(box.get("x")) + float(box.get("width")) < curve(picture)[0][0]
        assert "first step 14 s (70 x median)" in picture.get("aria-label")


def test_several_lines_have_names():
    for picture in pictures(ChartLine("GPU", ((1, 1.0), (2, 1.0))), ChartLine("host", ((1, 1.0), (2, 1.0)), "c2")):
        assert {"GPU", "host"} <= {entry.text for entry in picture.iter("text")}
