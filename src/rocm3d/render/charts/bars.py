"""Horizontal bar charts. On a narrow screen labels are above the bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocm3d.render.charts.drawing import WIDE, Drawing, both, fitted

_LABEL, _VALUE, _ROW, _TALL_ROW, _THICK = 250, 140, 26, 40, 14


@dataclass(frozen=True)
class Bar:
    """`share` of the full length is 0 to 1. `kind` is a CSS class; `has_track` draws the full length behind the bar."""

    label: str
    value: str
    share: float
    kind: str = "c0"
    full: bool = False


def bars(title: str, rows: Sequence[Bar]) -> str:
    """SVG for both widths; screen readers get the title and every row."""
    about = f"{title}: " + "; ".join(f"{row.label}, {row.value}" for row in rows)
    return both(lambda width: _drawn(width, about, rows))


def _drawn(width: float, about: str, rows: Sequence[Bar]) -> str:
    beside = width >= WIDE
    step = _ROW if beside else _TALL_ROW
    drawing = Drawing(width, step * len(rows) + 4, about)
    left, room = (_LABEL, width - _LABEL - _VALUE) if beside else (0, width)
    for number, row in enumerate(rows):
        top = step * number
        length = max(1.5, min(1.0, max(0.0, row.share)) * room)
        at = top + (6 if beside else 20)
        if row.full:
            drawing.rect((left, at, room, _THICK), "track")
        drawing.rect((left, at, length, _THICK), f"bar {row.kind}", f"{row.label}: {row.value}")
        if beside:
            drawing.text(left - 10, top + 17.5, fitted(row.label, _LABEL - 14), anchor="end", about=row.label)
            drawing.text(left + (room if row.full else length) + 8, top + 17.5, row.value, "number")
        else:
            # The value keeps its width; the label gets the remaining space.
            rest = width - 6.8 * len(row.value) - 10
            drawing.text(0, top + 14, fitted(row.label, rest), about=row.label)
            drawing.text(width, top + 14, row.value, "number", anchor="end")
    return drawing.svg()
