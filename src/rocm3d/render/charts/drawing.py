"""The few SVG elements that pictures are made of. Every text is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from rocm3d.render.cleaning import clean

# A picture is drawn twice, as letters must not shrink with the screen; the page shows the one that fits.
WIDE, NARROW = 820, 340
# Width of a letter in parts of its height: system fonts are between 0.5 and 0.6.
_LETTER = 0.56


@dataclass
class Drawing:
    """Elements one after the other; `about` is what a reader hears in place of the picture."""

    width: float
    height: float
    about: str
    parts: list[str] = field(default_factory=list)

    def rect(self, place: tuple[float, float, float, float], kind: str, about: str = "", round_by: float = 2) -> None:
        """A box at x and y, so wide and so high; `about` is shown under the pointer."""
        x, y, width, height = (_number(value) for value in place)
        title = f"<title>{escape(clean(about))}</title>" if about else ""
        box = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="{_number(round_by)}"'
        self.parts.append(f'<rect {box} class="{kind}">{title}</rect>')

    def text(  # noqa: PLR0913  (what a line of text can be)
        self, x: float, y: float, words: str, kind: str = "", *, anchor: str = "start", about: str = ""
    ) -> None:
        """One line of text, with its baseline at y; `about` is the whole of what was cut."""
        title = f"<title>{escape(clean(about))}</title>" if about and about != words else ""
        at = f' text-anchor="{anchor}"' if anchor != "start" else ""
        named = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{_number(x)}" y="{_number(y)}"{at}{named}>{title}{escape(clean(words))}</text>')

    def line(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Straight from point to point."""
        path = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="{kind}"/>')

    def curve(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """From left to right, level at both ends."""
        (x1, y1), (x2, y2) = start, end
        middle = _number((x1 + x2) / 2)
        a, b, c, d = (_number(value) for value in (x1, y1, x2, y2))
        self.parts.append(f'<path d="M{a} {b}C{middle} {b} {middle} {d} {c} {d}" class="{kind}"/>')

    def svg(self) -> str:
        """The whole picture."""
        width, height = _number(self.width), _number(self.height)
        return (
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f"aria-label={quoteattr(clean(self.about))}>\n" + "\n".join(self.parts) + "\n</svg>"
        )


def fitted(words: str, width: float, size: float = 12) -> str:
    """As much of a text as fits, in letters of that size."""
    most = max(1, int(width / (size * _LETTER)))
    return words if len(words) <= most else f"{words[: max(1, most - 1)]}\N{HORIZONTAL ELLIPSIS}"


def wrapped(words: str, width: float, size: float = 12) -> list[str]:
    """A text as two lines at the most."""
    short = fitted(words, width, size)
    if short == words or " " not in words:
        return [short]
    space = words.rfind(" ", 0, len(short))
    first = words[:space] if space > 0 else short
    return [first, fitted(words[len(first) :].strip(), width, size)]


def both(draw: Callable[[float], str]) -> str:
    """The picture for a wide and for a narrow screen."""
    return f'<div class="chart wide">{draw(WIDE)}</div>\n<div class="chart narrow">{draw(NARROW)}</div>'


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
