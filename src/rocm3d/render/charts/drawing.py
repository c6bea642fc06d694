"""SVG elements of charts, axis ticks, and readable units. All text is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import floor, isfinite, log10
from xml.sax.saxutils import escape, quoteattr

from rocm3d.render.sanitize import clean

# Each chart is drawn at two widths, because text must not shrink with the screen; CSS shows the one that fits.
WIDE, NARROW = 820, 340
# Average letter width as a share of the font size: 0.5 to 0.6 in system fonts.
_LETTER_WIDTH = 0.56


@dataclass
class Drawing:
    """`description` is the text for screen readers."""

    width: float
    height: float
    description: str
    parts: list[str] = field(default_factory=list)

    def rect(
        self, bounds: tuple[float, float, float, float], kind: str, tooltip: str = "", round_by: float = 2
    ) -> None:
        """`bounds` are x, y, width and height."""
        x, y, width, height = (_format_coordinate(value) for value in bounds)
        title = f"<title>{escape(clean(tooltip))}</title>" if tooltip else ""
        box = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="{_format_coordinate(round_by)}"'
        self.parts.append(f'<rect {box} class="{kind}">{title}</rect>')

    def text(  # noqa: PLR0913  (attributes of an SVG text)
        self, x: float, y: float, text: str, kind: str = "", *, anchor: str = "start", tooltip: str = ""
    ) -> None:
        """One line with its baseline at y; `tooltip` is the complete text of a truncated one."""
        title = f"<title>{escape(clean(tooltip))}</title>" if tooltip and tooltip != text else ""
        anchor_attribute = f' text-anchor="{anchor}"' if anchor != "start" else ""
        class_attribute = f' class="{kind}"' if kind else ""
        self.parts.append(
            f'<text x="{_format_coordinate(x)}" y="{_format_coordinate(y)}"{anchor_attribute}{class_attribute}>'
            f"{title}{escape(clean(text))}</text>"
        )

    def line(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """A polyline."""
        path = " ".join(f"{_format_coordinate(x)},{_format_coordinate(y)}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="{kind}"/>')

    def curve(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """A Bezier curve from left to right, horizontal at both ends."""
        middle = _format_coordinate((start[0] + end[0]) / 2)
        a, b, c, d = (_format_coordinate(value) for value in (*start, *end))
        self.parts.append(f'<path d="M{a} {b}C{middle} {b} {middle} {d} {c} {d}" class="{kind}"/>')

    def svg(self) -> str:
        """The complete element."""
        width, height = _format_coordinate(self.width), _format_coordinate(self.height)
        return (
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f"aria-label={quoteattr(clean(self.description))}>\n" + "\n".join(self.parts) + "\n</svg>"
        )


def truncate(text: str, width: float, size: float = 12) -> str:
    """Cut to a width in pixels at a font size, with an ellipsis."""
    max_letters = max(1, int(width / (size * _LETTER_WIDTH)))
    return text if len(text) <= max_letters else f"{text[: max(1, max_letters - 1)]}\N{HORIZONTAL ELLIPSIS}"


def wrap(text: str, width: float, size: float = 12) -> list[str]:
    """At most two lines."""
    short = truncate(text, width, size)
    if short == text or " " not in text:
        return [short]
    space = text.rfind(" ", 0, len(short))
    first = text[:space] if space > 0 else short
    return [first, truncate(text[len(first) :].strip(), width, size)]


def for_both_widths(draw: Callable[[float], str]) -> str:
    """The chart at the wide and at the narrow width."""
    return f'<div class="chart wide">{draw(WIDE)}</div>\n<div class="chart narrow">{draw(NARROW)}</div>'


def _format_coordinate(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class DisplayUnit:
    """`size` is the unit in seconds or bytes."""

    size: float
    name: str

    def format(self, value: float) -> str:
        """Such as `1.25 ms`."""
        return f"{format_number(value / self.size)} {self.name}"


_TIMES = (DisplayUnit(1.0, "s"), DisplayUnit(1e-3, "ms"), DisplayUnit(1e-6, "\N{MICRO SIGN}s"))
_SIZES = tuple(
    DisplayUnit(1024**power, name) for power, name in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB"), (0, "B"))
)


def time_unit(largest: float) -> DisplayUnit:
    """A readable unit for times up to this many seconds."""
    return next((unit for unit in _TIMES if largest >= unit.size), _TIMES[-1])


def size_unit(largest: float) -> DisplayUnit:
    """A readable unit for sizes up to this many bytes."""
    return next((unit for unit in _SIZES if largest >= unit.size), _SIZES[-1])


def ticks(largest: float, count: int = 4) -> list[float]:
    """From 0 to the first tick at or above `largest`, in steps of 1, 2 or 5 times a power of ten."""
    raw = largest / count
    if not isfinite(largest) or raw <= 0:  # the smallest floats divided are 0
        return [0.0, 1.0]
    power = 10.0 ** floor(log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    values = [0.0]
    while values[-1] < largest * (1 - 1e-9):
        values.append(len(values) * step)
    return values


def format_number(value: float) -> str:
    """Three significant digits; integers from 100 on in full."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
