"""A renderer that requires one kind of GL context: on AMD GPUs OpenGL and EGL come from Mesa, not from NVIDIA."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, environment_writes, string_value, unconditional_imports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.model.finding import Severity


_VENDOR = re.compile(rb"nvidia", re.IGNORECASE)


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first use of each term. Uses that work with Mesa or a ported build without an edit are notes."""
    terms, reported = context.code.terms, set()
    if not any(term.encode() in unit.data for term in terms):
        return
    for name, node, severity in sorted(_candidates(unit), key=lambda candidate: candidate[1].start_byte):
        if name in terms and name not in reported and not unit.is_guarded(node):
            reported.add(name)
            match = match_at(unit, node, call=name, why=terms[name])
            yield Match(match.line, match.column, match.facts, severity=severity)


def _candidates(unit: PythonUnit) -> Iterator[tuple[str, Node, Severity | None]]:
    for call in unit.nodes("call"):
        function = call.child_by_field_name("function")
        name = "" if function is None else unit.slice(function).rsplit(".", 1)[-1]
        yield name, call, "note" if "Cuda" in name else None
    for imported in unconditional_imports(unit):
        yield imported.module.split(".")[0], imported.node, "note"
    for name, value, node in environment_writes(unit):
        text = string_value(unit, value) or ""
        if name.startswith("_"):
            if _VENDOR.search(unit.data, value.start_byte, value.end_byte):  # files of other vendors are fine
                yield name, node, None
        elif text.lower() != "osmesa":
            yield name, node, "note"
    for node in unit.nodes("string"):
        path = (string_value(unit, node) or "").rsplit("/", 1)[-1]
        if path.startswith("lib"):
            yield path.split(".")[0], node, None


detector = Detector(__name__, code="PY404", unit_types=PythonUnit, find=find)
