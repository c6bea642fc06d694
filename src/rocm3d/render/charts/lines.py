"""Line charts over time or steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from rocm3d.render.charts.drawing import WIDE, Drawing, for_both_widths, format_number, ticks, truncate

_LEFT, _BOTTOM, _TOP, _RIGHT = 58, 38, 24, 16
_SEPARATE_WIDTH, _SEPARATE_WIDTH_NARROW, _GAP = 118, 92, 22
_HEIGHT = 210


@dataclass(frozen=True)
class ChartLine:
    """Points with x in ascending order and no negative values; `kind` is a CSS class."""

    label: str
    points: tuple[tuple[float, float], ...]
    kind: str = "c0"


@dataclass(frozen=True)
class SeparateValue:
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
    lines: tuple[ChartLine, ...]
    level: tuple[float, str] | None = None
    separate: SeparateValue | None = None


def line_chart(plot: Plot) -> str:
    """SVG for both widths; screen readers get the title, the separate value and the level."""
    separate, level = plot.separate, plot.level
    description = [
        plot.title,
        *([f"{separate.label} {separate.value} ({separate.note})"] if separate else []),
        *([level[1]] if level else []),
        *(f"{line.label}: {len(line.points)} points" for line in plot.lines),
    ]
    return for_both_widths(lambda width: _draw(width, "; ".join(description), plot))


def _draw(width: float, description: str, plot: Plot) -> str:
    drawing = Drawing(width, _HEIGHT, description)
    left = float(_LEFT)
    if plot.separate:
        separate_width = _SEPARATE_WIDTH if width >= WIDE else _SEPARATE_WIDTH_NARROW
        _draw_separate_value(drawing, plot.separate, separate_width - _GAP)
        left += separate_width
    finite_lines = [(line, _finite_points(line.points)) for line in plot.lines]
    points = [point for _, line_points in finite_lines for point in line_points]
    area = _PlotArea(left, width - _RIGHT, _TOP, _HEIGHT - _BOTTOM, points, plot)
    _axes(drawing, area, plot)
    for line, line_points in finite_lines:
        if len(line_points) == 1:
            (x, y) = area.to_pixels(line_points[0])
            drawing.rect((x - 2.5, y - 2.5, 5, 5), f"bar {line.kind}")
        drawing.line([area.to_pixels(point) for point in line_points], f"curve {line.kind}")
    if plot.level:
        value, label = plot.level
        y = area.to_pixels((0, value))[1]
        drawing.line([(area.left, y), (area.right, y)], "level")
        drawing.line([(area.right - 7 * len(label) - 28, 8), (area.right - 7 * len(label) - 8, 8)], "level")
        drawing.text(area.right, 12, label, "small", anchor="end")
    _legend(drawing, area, plot)
    return drawing.svg()


def _draw_separate_value(drawing: Drawing, value: SeparateValue, width: float) -> None:
    """In a hatched box, so that it is not taken for a point of the plot."""
    top, bottom = _TOP, _HEIGHT - _BOTTOM
    drawing.rect((0, top, width, bottom - top), "apart")
    drawing.text(width / 2, top + 20, value.label, "soft small", anchor="middle")
    drawing.text(width / 2, (top + bottom) / 2 + 8, value.value, "large", anchor="middle")
    drawing.text(width / 2, bottom - 10, value.note, "soft small", anchor="middle")


class _PlotArea:
    """Maps values to pixels."""

    def __init__(  # noqa: PLR0913, PLR0917  (four sides, points and plot)
        self, left: float, right: float, top: float, bottom: float, points: Sequence[tuple[float, float]], plot: Plot
    ) -> None:
        self.left, self.right, self.top, self.bottom = left, right, top, bottom
        high = max([y for _, y in points] + [plot.level[0] if plot.level else 0.0])
        self.x_to = max((x for x, _ in points), default=1.0)
        self.rows = [tick * plot.y_size for tick in ticks(high / plot.y_size)]

    def to_pixels(self, point: tuple[float, float]) -> tuple[float, float]:
        across = point[0] / (self.x_to or 1.0)
        up = point[1] / (self.rows[-1] or 1.0)
        return self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top)


def _axes(drawing: Drawing, area: _PlotArea, plot: Plot) -> None:
    for row in area.rows:
        y = area.to_pixels((0, row))[1]
        drawing.line([(area.left, y), (area.right, y)], "axis" if row == 0 else "grid")
        drawing.text(area.left - 8, y + 4, plot.y(row), "number small", anchor="end")
    columns = ticks(area.x_to, 6 if area.right - area.left > WIDE / 2 else 3)
    for value in (tick for tick in columns if tick <= area.x_to):
        x = area.to_pixels((value, 0))[0]
        drawing.line([(x, area.bottom), (x, area.bottom + 4)], "axis")
        drawing.text(x, area.bottom + 17, format_number(value), "number small", anchor="middle")
    drawing.text((area.left + area.right) / 2, area.bottom + 33, plot.x, "soft small", anchor="middle")


def _legend(drawing: Drawing, area: _PlotArea, plot: Plot) -> None:
    if len(plot.lines) == 1:
        return
    entry_width = (area.right - area.left) / max(1, len(plot.lines))
    for number, line in enumerate(plot.lines):
        x = area.left + entry_width * number
        drawing.rect((x, 5, 12, 4), f"bar {line.kind}", round_by=1)
        drawing.text(x + 18, 12, truncate(line.label, entry_width - 20), "small", tooltip=line.label)


def _finite_points(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Drops infinite and negative values: records are untrusted input."""
    return [(x, y) for x, y in points if isfinite(x) and isfinite(y) and x >= 0 and y >= 0]
