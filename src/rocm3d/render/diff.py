"""The diff of a dry run: plain text for `git apply`, or the same lines in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.color import ColorSystem
from rich.style import Style

from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.patch import FileChange, Patch

_STYLES = {"+": Style.parse("green"), "-": Style.parse("red"), "@": Style.parse("cyan")}
_HEADER = Style.parse("bold")


def render(patch: Patch, *, colour: bool = False) -> str:
    """All changes in order. Colour codes surround lines and never change their content."""
    return "".join(f"{line}\n" for change in patch.changes for line in _lines(change, colour=colour))


def _lines(change: FileChange, *, colour: bool) -> Iterator[str]:
    header = True
    for line in change.diff.removesuffix("\n").split("\n") if change.diff else ():
        header = header and not line.startswith("@@")
        style = _HEADER if header else _STYLES.get(line[:1])
        shown = _clean_line(line)
        yield style.render(shown, color_system=ColorSystem.STANDARD) if colour and style and shown else shown


def _clean_line(line: str) -> str:
    """Sanitized, except for what a patch needs to apply: tabs, form feeds and a final carriage return."""
    body = line.removesuffix("\r")
    return "".join(c if c in "\t\f" else clean(c) for c in body) + line[len(body) :]
