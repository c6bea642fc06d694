"""SVG elements of charts. All text is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from rocm3d.render.cleaning import clean

# Each chart is drawn at two widths, because text must not shrink with the screen; CSS shows the one that fits.
WIDE, NARROW = 820, 340
# Average letter width as a share of the font size: 0.5 to 0.6 in system fonts.
_LETTER = 0.56


@dataclass
class Drawing:
    """`description` is the text for screen readers."""

    width: float
    height: float
    about: str
    parts: list[str] = field(default_factory=list)

    def rect(self, place: tuple[float, float, float, float], kind: str, about: str = "", round_by: float = 2) -> None:
        """`bounds` are x, y, width and height."""
        x, y, width, height = (_number(value) for value in place)
        title = f"<title>{escape(clean(about))}</title>" if about else ""
        box = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="{_number(round_by)}"'
        self.parts.append(f'<rect {box} class="{kind}">{title}</rect>')

    def text(  # noqa: PLR0913  (attributes of an SVG text)
        self, x: float, y: float, words: str, kind: str = "", *, anchor: str = "start", about: str = ""
    ) -> None:
        """One line with its baseline at y; `tooltip` is the complete text of a truncated one."""
        title = f"<title>{escape(clean(about))}</title>" if about and about != words else ""
        at = f' text-anchor="{anchor}"' if anchor != "start" else ""
        named = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{_number(x)}" y="{_number(y)}"{at}{named}>{title}{escape(clean(words))}</text>')

    def line(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """A polyline."""
        path = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="{kind}"/>')

    def curve(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """A Bezier curve from left to right, horizontal at both ends."""
        (x1, y1), (x2, y2) = start, end
        middle = _number((x1 + x2) / 2)
        a, b, c, d = (_number(value) for value in (x1, y1, x2, y2))
        self.parts.append(f'<path d="M{a} {b}C{middle} {b} {middle} {d} {c} {d}" class="{kind}"/>')

    def svg(self) -> str:
        """The complete element."""
        width, height = _number(self.width), _number(self.height)
        return (
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f"aria-label={quoteattr(clean(self.about))}>\n" + "\n".join(self.parts) + "\n</svg>"
        )


def fitted(words: str, width: float, size: float = 12) -> str:
    """Cut to a width in pixels at a font size, with an ellipsis."""
    most = max(1, int(width / (size * _LETTER)))
    return words if len(words) <= most else f"{words[: max(1, most - 1)]}\N{HORIZONTAL ELLIPSIS}"


def wrapped(words: str, width: float, size: float = 12) -> list[str]:
    """At most two lines."""
    short = fitted(words, width, size)
    if short == words or " " not in words:
        return [short]
    space = words.rfind(" ", 0, len(short))
    first = words[:space] if space > 0 else short
    return [first, fitted(words[len(first) :].strip(), width, size)]


def both(draw: Callable[[float], str]) -> str:
    """The chart at the wide and at the narrow width."""
    return f'<div class="chart wide">{draw(WIDE)}</div>\n<div class="chart narrow">{draw(NARROW)}</div>'


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
