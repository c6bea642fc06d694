"""Line charts over time or steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from rocm3d.render.charts.drawing import WIDE, Drawing, both, fitted
from rocm3d.render.charts.scale import plain, ticks

_LEFT, _BOTTOM, _TOP, _RIGHT = 58, 38, 24, 16
_APART, _APART_NARROW, _GAP = 118, 92, 22
_HEIGHT = 210


@dataclass(frozen=True)
class Line:
    """Points with x in ascending order and no negative values; `kind` is a CSS class."""

    label: str
    points: tuple[tuple[float, float], ...]
    kind: str = "c0"


@dataclass(frozen=True)
class Apart:
    """A value in a box next to the plot, because it would not fit its scale."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class Plot:
    """`x` is the axis label, `y` formats values of the y axis, `level` is a labelled horizontal line."""

    title: str
    x: str
    y: Callable[[float], str]
    y_size: float
    lines: tuple[Line, ...]
    level: tuple[float, str] | None = None
    apart: Apart | None = None


def lines(plot: Plot) -> str:
    """SVG for both widths; screen readers get the title, the separate value and the level."""
    about = [plot.title]
    if plot.apart:
        about.append(f"{plot.apart.label} {plot.apart.value} ({plot.apart.note})")
    if plot.level:
        about.append(plot.level[1])
    about += [f"{line.label}: {len(line.points)} points" for line in plot.lines]
    return both(lambda width: _drawn(width, "; ".join(about), plot))


def _drawn(width: float, about: str, plot: Plot) -> str:
    drawing = Drawing(width, _HEIGHT, about)
    left = float(_LEFT)
    if plot.apart:
        wide = _APART if width >= WIDE else _APART_NARROW
        _apart(drawing, plot.apart, wide - _GAP)
        left += wide
    kept = [(line, _sound(line.points)) for line in plot.lines]
    points = [point for _, found in kept for point in found]
    area = _Area(left, width - _RIGHT, _TOP, _HEIGHT - _BOTTOM, points, plot)
    _axes(drawing, area, plot)
    for line, found in kept:
        if len(found) == 1:
            (x, y) = area.place(found[0])
            drawing.rect((x - 2.5, y - 2.5, 5, 5), f"bar {line.kind}")
        drawing.line([area.place(point) for point in found], f"curve {line.kind}")
    if plot.level:
        value, label = plot.level
        y = area.place((0, value))[1]
        drawing.line([(area.left, y), (area.right, y)], "level")
        drawing.line([(area.right - 7 * len(label) - 28, 8), (area.right - 7 * len(label) - 8, 8)], "level")
        drawing.text(area.right, 12, label, "small", anchor="end")
    _legend(drawing, area, plot)
    return drawing.svg()


def _apart(drawing: Drawing, item: Apart, width: float) -> None:
    """In a hatched box, so that it is not taken for a point of the plot."""
    top, bottom = _TOP, _HEIGHT - _BOTTOM
    drawing.rect((0, top, width, bottom - top), "apart")
    drawing.text(width / 2, top + 20, item.label, "soft small", anchor="middle")
    drawing.text(width / 2, (top + bottom) / 2 + 8, item.value, "large", anchor="middle")
    drawing.text(width / 2, bottom - 10, item.note, "soft small", anchor="middle")


class _Area:
    """Maps values to pixels."""

    def __init__(  # noqa: PLR0913, PLR0917  (four sides, points and plot)
        self, left: float, right: float, top: float, bottom: float, points: Sequence[tuple[float, float]], plot: Plot
    ) -> None:
        self.left, self.right, self.top, self.bottom = left, right, top, bottom
        high = max([y for _, y in points] + [plot.level[0] if plot.level else 0.0])
        self.x_to = max((x for x, _ in points), default=1.0)
        self.rows = [tick * plot.y_size for tick in ticks(high / plot.y_size)]

    def place(self, point: tuple[float, float]) -> tuple[float, float]:
        across = point[0] / (self.x_to or 1.0)
        up = point[1] / (self.rows[-1] or 1.0)
        return self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top)


def _axes(drawing: Drawing, area: _Area, plot: Plot) -> None:
    for row in area.rows:
        y = area.place((0, row))[1]
        drawing.line([(area.left, y), (area.right, y)], "axis" if row == 0 else "grid")
        drawing.text(area.left - 8, y + 4, plot.y(row), "number small", anchor="end")
    for value in ticks(area.x_to, 6 if area.right - area.left > WIDE / 2 else 3):
        if value > area.x_to:
            break
        x = area.place((value, 0))[0]
        drawing.line([(x, area.bottom), (x, area.bottom + 4)], "axis")
        drawing.text(x, area.bottom + 17, plain(value), "number small", anchor="middle")
    drawing.text((area.left + area.right) / 2, area.bottom + 33, plot.x, "soft small", anchor="middle")


def _legend(drawing: Drawing, area: _Area, plot: Plot) -> None:
    if len(plot.lines) == 1:
        return
    room = (area.right - area.left) / max(1, len(plot.lines))
    for number, line in enumerate(plot.lines):
        x = area.left + room * number
        drawing.rect((x, 5, 12, 4), f"bar {line.kind}", round_by=1)
        drawing.text(x + 18, 12, fitted(line.label, room - 20), "small", about=line.label)


def _sound(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Drops infinite and negative values: records are untrusted input."""
    return [(x, y) for x, y in points if isfinite(x) and isfinite(y) and x >= 0 and y >= 0]
