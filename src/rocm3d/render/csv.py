"""A matrix as CSV: one line per package, one column per repository. The last line has the states."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rocm3d.render.rungs import current_rung

if TYPE_CHECKING:
    from rocm3d.model.inventory import Matrix

_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")


def render(document: Matrix) -> str:
    """Names are untrusted: those that a spreadsheet would run as a formula are escaped."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [column.repository for column in document.columns]
    writer.writerow(["package", "family", "waiting", *(_escape_formula(name) for name in names)])
    for row in document.rows:
        cells = (row.states.get(name, "") for name in names)
        writer.writerow([_escape_formula(row.package), row.family, len(row.waiting), *cells])
    states = [current_rung(column.state) if column.state else "" for column in document.columns]
    if any(states):
        writer.writerow(["(state of the port)", "", "", *states])
    return stream.getvalue()


def _escape_formula(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_PREFIXES) else text
