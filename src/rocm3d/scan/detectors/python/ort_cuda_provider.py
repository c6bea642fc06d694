"""An onnxruntime session with NVIDIA's execution providers: builds for AMD ignore them and run on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, ancestors, string_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first such provider of each list. A test for a provider counts only if it is an assert."""
    if b"ExecutionProvider" not in unit.data or b"MIGraphX" in unit.data:
        return
    reported = set()
    for node in unit.nodes("string"):
        provider = string_value(unit, node)
        if provider not in context.code.terms or provider is None or unit.is_guarded(node):
            continue
        kinds = [above.type for above in ancestors(node)]
        if kinds[:1] == ["comparison_operator"] and "assert_statement" not in kinds:
            continue
        statement = _statement_offset(node)
        if statement not in reported and kinds[:1] != ["expression_statement"]:
            reported.add(statement)
            yield match_at(unit, node, provider=provider, why=context.code.terms[provider])


def _statement_offset(node: Node) -> int:
    """The byte offset of the statement around a node."""
    for above in ancestors(node):
        if above.type.endswith("_statement"):
            return above.start_byte
    return node.start_byte


detector = Detector(__name__, code="PY403", unit_types=PythonUnit, find=find)
