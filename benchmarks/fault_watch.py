"""Instruments lines of Python source: a call before the statement of a line records the test that runs it.

Coverage of all lines made the suite run for hours; only the lines of the chosen faults matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

# Some programs run without fault_hits on their path; they must still run.
RECORD_CALL = "try:\n    __import__('fault_hits').hit({})\nexcept ImportError:\n    pass\n"


def instrumented(source: bytes, numbers: Mapping[int, int]) -> str:
    """The source with recording calls; line `line` has the number `numbers[line]`."""
    tree = ast.parse(source)
    for body in _bodies(tree):
        body[:] = [new for statement in body for new in (*_calls(statement, numbers), statement)]
    return ast.unparse(ast.fix_missing_locations(tree))


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    """Every list of statements, collected before any is changed."""
    values = (value for node in ast.walk(tree) for _, value in ast.iter_fields(node))
    return [value for value in values if isinstance(value, list) and value and isinstance(value[0], ast.stmt)]


def _calls(statement: ast.stmt, numbers: Mapping[int, int]) -> Iterator[ast.stmt]:
    """Calls for the lines of a statement that no inner statement has."""
    inner = {line for below in ast.walk(statement) if below is not statement for line in _lines(below)}
    for line in sorted({*_lines(statement)} - inner):
        if line in numbers:
            yield from ast.parse(RECORD_CALL.format(numbers[line])).body


def _lines(node: ast.AST) -> range:
    if not isinstance(node, ast.stmt):
        return range(0)
    decorators = getattr(node, "decorator_list", [])
    return range(min([node.lineno, *(item.lineno for item in decorators)]), (node.end_lineno or node.lineno) + 1)
