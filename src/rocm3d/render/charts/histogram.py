"""Histogram of values from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

from rocm3d.render.charts.drawing import Drawing

_WIDTH, _HEIGHT, _AXIS_HEIGHT = 200, 74, 16


def histogram(title: str, counts: Sequence[int]) -> str:
    """Small: it is placed next to a picture."""
    drawing = Drawing(_WIDTH, _HEIGHT, f"{title} from 0 to 1: {', '.join(f'{count:,}' for count in counts)}")
    most, step = max([*counts, 1]), _WIDTH / max(1, len(counts))
    for number, count in enumerate(counts):
        height = max(0, count) / most * (_HEIGHT - _AXIS_HEIGHT - 2)
        low, high = number / len(counts), (number + 1) / len(counts)
        drawing.rect(
            (number * step + 0.5, _HEIGHT - _AXIS_HEIGHT - height, step - 1, height),
            "bar c0",
            f"{low:.2f} to {high:.2f}: {count:,}",
            round_by=0,
        )
    drawing.line([(0, _HEIGHT - _AXIS_HEIGHT), (_WIDTH, _HEIGHT - _AXIS_HEIGHT)], "axis")
    drawing.text(0, _HEIGHT - 3, "0", "small soft")
    drawing.text(_WIDTH / 2, _HEIGHT - 3, title, "small soft", anchor="middle")
    drawing.text(_WIDTH, _HEIGHT - 3, "1", "small soft", anchor="end")
    return drawing.svg()
