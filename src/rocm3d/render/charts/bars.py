"""Horizontal bar charts, with labels above the bars on a narrow screen, and histograms of values from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocm3d.render.charts.drawing import WIDE, Drawing, for_both_widths, truncate

_LABEL_WIDTH, _VALUE_WIDTH, _ROW_HEIGHT, _TALL_ROW_HEIGHT, _BAR_HEIGHT = 250, 140, 26, 40, 14
_HISTOGRAM_WIDTH, _HISTOGRAM_HEIGHT, _AXIS_HEIGHT = 200, 74, 16


@dataclass(frozen=True)
class Bar:
    """`share` of the full length is 0 to 1. `kind` is a CSS class; `has_track` draws the full length behind the bar."""

    label: str
    value: str
    share: float
    kind: str = "c0"
    has_track: bool = False


def bar_chart(title: str, rows: Sequence[Bar]) -> str:
    """SVG for both widths; screen readers get the title and every row."""
    description = f"{title}: " + "; ".join(f"{row.label}, {row.value}" for row in rows)
    return for_both_widths(lambda width: _draw(width, description, rows))


def _draw(width: float, description: str, rows: Sequence[Bar]) -> str:
    is_wide = width >= WIDE
    step = _ROW_HEIGHT if is_wide else _TALL_ROW_HEIGHT
    drawing = Drawing(width, step * len(rows) + 4, description)
    left, bar_width = (_LABEL_WIDTH, width - _LABEL_WIDTH - _VALUE_WIDTH) if is_wide else (0, width)
    for number, row in enumerate(rows):
        top = step * number
        length = max(1.5, min(1.0, max(0.0, row.share)) * bar_width)
        bar_top = top + (6 if is_wide else 20)
        if row.has_track:
            drawing.rect((left, bar_top, bar_width, _BAR_HEIGHT), "track")
        drawing.rect((left, bar_top, length, _BAR_HEIGHT), f"bar {row.kind}", f"{row.label}: {row.value}")
        if is_wide:
            drawing.text(left - 10, top + 17.5, truncate(row.label, _LABEL_WIDTH - 14), anchor="end", tooltip=row.label)
            drawing.text(left + (bar_width if row.has_track else length) + 8, top + 17.5, row.value, "number")
        else:
            # The value keeps its width; the label gets the remaining space.
            label_width = width - 6.8 * len(row.value) - 10
            drawing.text(0, top + 14, truncate(row.label, label_width), tooltip=row.label)
            drawing.text(width, top + 14, row.value, "number", anchor="end")
    return drawing.svg()


def histogram(title: str, counts: Sequence[int]) -> str:
    """Small: it is placed next to a picture."""
    drawing = Drawing(
        _HISTOGRAM_WIDTH, _HISTOGRAM_HEIGHT, f"{title} from 0 to 1: {', '.join(f'{count:,}' for count in counts)}"
    )
    most, step = max([*counts, 1]), _HISTOGRAM_WIDTH / max(1, len(counts))
    for number, count in enumerate(counts):
        height = max(0, count) / most * (_HISTOGRAM_HEIGHT - _AXIS_HEIGHT - 2)
        low, high = number / len(counts), (number + 1) / len(counts)
        drawing.rect(
            (number * step + 0.5, _HISTOGRAM_HEIGHT - _AXIS_HEIGHT - height, step - 1, height),
            "bar c0",
            f"{low:.2f} to {high:.2f}: {count:,}",
            round_by=0,
        )
    drawing.line([(0, _HISTOGRAM_HEIGHT - _AXIS_HEIGHT), (_HISTOGRAM_WIDTH, _HISTOGRAM_HEIGHT - _AXIS_HEIGHT)], "axis")
    drawing.text(0, _HISTOGRAM_HEIGHT - 3, "0", "small soft")
    drawing.text(_HISTOGRAM_WIDTH / 2, _HISTOGRAM_HEIGHT - 3, title, "small soft", anchor="middle")
    drawing.text(_HISTOGRAM_WIDTH, _HISTOGRAM_HEIGHT - 3, "1", "small soft", anchor="end")
    return drawing.svg()
