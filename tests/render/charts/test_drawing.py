from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.render.charts.drawing import NARROW, WIDE, Drawing, for_both_widths, truncate, wrap


def drawn(text: str) -> str:
    drawing = Drawing(100, 50, text)
    drawing.rect((0, 0, 10, 10), "bar", text)
    drawing.text(1, 2, text, "soft", anchor="end", tooltip=f"{text}!")
    drawing.line([(0, 0), (1.25, 1)], "grid")
    drawing.curve((0, 0), (10, 10), "link")
    return drawing.svg()


@given(st.text(max_size=30))
def test_no_text_breaks_the_picture(text):
    picture = ElementTree.fromstring(drawn(text))

    assert {entry.tag for entry in picture.iter()} <= {"svg", "rect", "text", "title", "polyline", "path"}


def test_text_is_text_and_no_markup():
    picture = drawn('<script>"&\u202e')

    assert "<script" not in picture
    assert "\u202e" not in picture
    assert "aria-label='&lt;script&gt;\"&amp;\N{REPLACEMENT CHARACTER}'" in picture


def test_numbers_are_short():
    assert 'points="0,0 1.2,1"' in drawn("a")


def test_what_is_too_long_is_cut_with_a_tooltip():
    assert truncate("short", 100) == "short"
    assert truncate("a" * 50, 67.2) == "a" * 9 + "\N{HORIZONTAL ELLIPSIS}"
    assert truncate("abc", 0) == "a\N{HORIZONTAL ELLIPSIS}"


def test_two_lines_at_the_most():
    assert wrap("one", 100) == ["one"]
    assert wrap("Gaussian splatting and its rasterizers", 160) == ["Gaussian splatting and", "its rasterizers"]
    assert wrap("a" * 30, 67.2) == ["a" * 9 + "\N{HORIZONTAL ELLIPSIS}"]
    assert len(wrap("word " * 50, 100)) == 2


def test_it_is_drawn_for_both_screens():
    text = for_both_widths(lambda width: f"[{width}]")

    assert f'<div class="chart wide">[{WIDE}]</div>' in text
    assert f'<div class="chart narrow">[{NARROW}]</div>' in text
