"""Renders a matrix as SVG: packages by repositories, with a bar for the number of waiting repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from rocm3d.model.counted import counted
from rocm3d.render.rungs import current_rung
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.inventory import LibraryState, Matrix, MatrixRow

CELL, LEFT, BAR, MIN_WIDTH = 18, 220, 140, 640
# Each state has a sign as well, for readers who cannot see the colours.
_STATE_STYLE: dict[LibraryState, tuple[str, str, str]] = {
    "proven": ("#1a7f37", "\u25cf", "verified on a GPU"),
    "works": ("#6bbf7b", "\u25cb", "installable"),
    "work": ("#d9a400", "\u25b2", "needs work"),
    "blocked": ("#c0392b", "\u2715", "no route known"),
    "named": ("#9aa4ad", "?", "not planned yet"),
}


def render(document: Matrix) -> str:
    """The size follows from the numbers of repositories and packages."""
    names = [clean(column.repository) for column in document.columns]
    top = 20 + round(0.72 * 7 * max((len(name) for name in names), default=1))
    width = max(MIN_WIDTH, LEFT + CELL * len(names) + BAR + 40)
    height = top + CELL * len(document.rows) + 40
    states = [current_rung(column.state) if column.state else "" for column in document.columns]
    parts = [*_head(names, states, top), *_rows(document, top), *_legend(height - 14)]
    title = (
        f"{counted(len(document.rows), 'library', 'libraries')} in {counted(len(names), 'repository', 'repositories')}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="sans-serif" font-size="11">\n<title>{title}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _head(names: list[str], states: list[str], top: int) -> Iterator[str]:
    for number, (name, state) in enumerate(zip(names, states, strict=True)):
        x, tooltip = LEFT + CELL * number + CELL // 2 + 4, f"<title>{escape(state)}</title>" if state else ""
        yield f'<text transform="translate({x},{top - 6}) rotate(-46)" fill="#1f2328">{tooltip}{escape(name)}</text>'


def _rows(document: Matrix, top: int) -> Iterator[str]:
    most = max((len(row.waiting) for row in document.rows), default=0) or 1
    bar = LEFT + CELL * len(document.columns) + 10
    for number, row in enumerate(document.rows):
        y = top + CELL * number
        yield f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end" fill="#1f2328">{escape(clean(row.package))}</text>'
        yield from _cells(row, [column.repository for column in document.columns], y)
        length = round(BAR * len(row.waiting) / most)
        yield f'<rect x="{bar}" y="{y + 4}" width="{length}" height="{CELL - 8}" fill="#57606a"/>'
        yield f'<text x="{bar + length + 4}" y="{y + 13}" fill="#57606a">{len(row.waiting)}</text>'


def _cells(row: MatrixRow, names: list[str], y: int) -> Iterator[str]:
    for number, name in enumerate(names):
        x, state = LEFT + CELL * number, row.states.get(name)
        if state is None:
            yield f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" fill="#f3f5f7"/>'
            continue
        colour, sign, meaning = _STATE_STYLE[state]
        tooltip, middle = escape(f"{clean(row.package)} in {clean(name)}: {meaning}"), x + CELL // 2
        yield (
            f'<g><title>{tooltip}</title><rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" '
            f'fill="{colour}"/><text x="{middle}" y="{y + 13}" text-anchor="middle" fill="#fff">{sign}</text></g>'
        )


def _legend(y: int) -> Iterator[str]:
    x = 10
    for colour, sign, meaning in _STATE_STYLE.values():
        yield f'<rect x="{x}" y="{y - 11}" width="14" height="14" fill="{colour}"/>'
        yield f'<text x="{x + 7}" y="{y}" text-anchor="middle" fill="#fff">{sign}</text>'
        yield f'<text x="{x + 19}" y="{y}" fill="#1f2328">{meaning}</text>'
        x += 34 + 6 * len(meaning)
