"""A build that tests CUDA_HOME: with a ROCm torch it is None, so the build fails or silently becomes CPU-only.

The test is a comparison with None, or CUDA_HOME as (a part of) a condition. A condition that also tests
torch.version.cuda and has a separate ROCm branch is correct and not reported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_COMPARISON = re.compile(r"(\w+\.)*CUDA_HOME\s*(is\s+(not\s+)?|==\s*|!=\s*)None$")
_HOME = re.compile(r"(\w+\.)*CUDA_HOME$")


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches tests of CUDA_HOME without a ROCm alternative."""
    if not unit.builds_extensions:
        return
    gates = {node.start_byte: (node, gate) for node, gate in _gates(unit)}
    for _, (node, gate) in sorted(gates.items()):
        if not unit.is_guarded(node) and not _has_rocm_branch(unit, node):
            yield match_at(unit, node, gate=gate)


def _has_rocm_branch(unit: PythonUnit, gate: Node) -> bool:
    """Whether the test is part of `if ... version.cuda ...: elif ... version.hip ...:`."""
    for chain in unit.nodes("if_statement"):
        condition = chain.child_by_field_name("condition")
        if condition is None or not condition.start_byte <= gate.start_byte < condition.end_byte:
            continue
        others = chain.children_by_field_name("alternative")
        inside = (alternative.named_children[0] for alternative in others if alternative.named_children)
        return b"version.cuda" in unit.data[condition.start_byte : condition.end_byte] and any(
            unit.is_guarded(alternative) for alternative in inside
        )
    return False


def _gates(unit: PythonUnit) -> Iterator[tuple[Node, str]]:
    """Yields the node of each test and its source text."""
    for node in unit.nodes("comparison_operator"):
        if _COMPARISON.match(unit.slice(node)):
            yield node, unit.slice(node)
    for node in unit.nodes(
        "if_statement", "elif_clause", "while_statement", "conditional_expression", "boolean_operator",
        "not_operator", "assert_statement", "call",
    ):  # fmt: skip
        for operand in _truth_operands(unit, node):
            while operand.type == "parenthesized_expression" and operand.named_children:
                operand = operand.named_children[0]  # noqa: PLW2901
            if operand.type in ("identifier", "attribute") and _HOME.match(unit.slice(operand)):
                yield operand, unit.slice(node if node.type in ("not_operator", "call") else operand)


def _truth_operands(unit: PythonUnit, node: Node) -> list[Node]:
    """The operands that a node evaluates as a truth value."""
    if node.type == "call":
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        is_bool = function is not None and unit.slice(function) == "bool"
        return list(arguments.named_children) if is_bool and arguments is not None else []
    if node.type == "conditional_expression":
        return node.named_children[1:2] if len(node.named_children) == 3 else []
    if node.type == "assert_statement":
        return node.named_children[:1]
    if node.type in ("boolean_operator", "not_operator"):
        return list(node.named_children)
    condition = node.child_by_field_name("condition")
    return [] if condition is None else [condition]


detector = Detector(__name__, code="BLD201", unit_types=PythonUnit, find=find)
