"""String literals of a Python file, traced through variables, concatenations, loops and calls. Never run.

Covers how setup files and installers build lists; values read from files or computed stay unknown.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from rocm3d.model.text import replace_surrogates

_MAX_STEPS = 20_000  # limit on resolving names: nested sums of names grow exponentially
_FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASSIGNING_NODES = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension, ast.Call)


@dataclass
class PythonLiterals:
    """One parsed file: its nodes, and every value that is assigned to each name."""

    lines: list[bytes]
    nodes: list[ast.AST]
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    steps: int = 0

    @classmethod
    def parse(cls, data: bytes) -> PythonLiterals | None:
        """Parse a file; None if it is not valid Python 3."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # SyntaxWarnings of the scanned code are not ours to report
                nodes = _nodes_with_fields(ast.parse(data))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        literals = cls(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), nodes)
        literals._collect_values()
        return literals

    def position(self, node: ast.expr) -> tuple[int, int]:
        """1-based line and column (in characters) of the first character inside the quotes of a literal."""
        line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else b""
        start = node.col_offset
        while line[start : start + 1].lower() in (b"r", b"b", b"u", b"f"):
            start += 1
        quotes = 3 if line[start : start + 3] in (b'"""', b"'''") else 1
        return node.lineno, len(line[: start + quotes].decode("utf-8", "replace")) + 1

    def strings(self, node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
        """The string literals that an expression may evaluate to, in order; `*` replaces interpolated parts."""
        stack: list[tuple[ast.expr, frozenset[str]]] = [(node, frozenset())]
        while stack and self.steps < _MAX_STEPS:
            self.steps += 1
            inner, visited = stack.pop()
            if isinstance(inner, ast.Constant):
                if isinstance(inner.value, str):
                    yield inner, replace_surrogates(inner.value)
            elif isinstance(inner, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "*" for part in inner.values)
                yield inner, replace_surrogates("".join(str(part) for part in parts))
            elif isinstance(inner, ast.Name):
                if inner.id not in visited:
                    stack += [(value, visited | {inner.id}) for value in reversed(self.values.get(inner.id, []))]
            else:
                stack += [(child, visited) for child in reversed(_children(inner))]

    def _collect_values(self) -> None:
        parameters = {node.name: node.args for node in self.nodes if isinstance(node, _FUNCTION_NODES)}
        for node in (node for node in self.nodes if isinstance(node, _ASSIGNING_NODES)):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value:
                self._assign(node.target, node.value)
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                self._assign(node.target, node.iter)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                if node.func.attr in ("append", "extend"):
                    self._assign(node.func.value, node.args[0])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in parameters:
                self._assign_parameters(node, parameters[node.func.id])

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)

    def _assign_parameters(self, call: ast.Call, parameters: ast.arguments) -> None:
        """Record the arguments of a call as values of the parameters of a function in this file."""
        names = [parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args)]
        for name, value in zip(names, call.args, strict=False):
            self.values.setdefault(name, []).append(value)
        if parameters.vararg is not None:
            self.values.setdefault(parameters.vararg.arg, []).extend(call.args[len(names) :])
        for keyword in call.keywords:
            if keyword.arg is not None:
                self.values.setdefault(keyword.arg, []).append(keyword.value)


def _nodes_with_fields(tree: ast.AST) -> list[ast.AST]:
    """The nodes in the order of ast.walk, without nodes that have no fields (a third of all)."""
    nodes = [tree]
    for node in nodes:  # grows during iteration
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [child for child in value if isinstance(child, ast.AST) and child._fields]
            elif isinstance(value, ast.AST) and value._fields:
                nodes.append(value)
    return nodes


def _children(node: ast.expr) -> list[ast.expr]:
    """The parts of an expression that may contain literals of a list."""
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BinOp):
        return [node.left] if isinstance(node.op, ast.Mod) else [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    return _call_parts(node) if isinstance(node, ast.Call) else []


def _call_parts(node: ast.Call) -> list[ast.expr]:
    if isinstance(node.func, ast.Name) and node.func.id in ("list", "sorted", "set"):
        return node.args
    return [node.func.value] if isinstance(node.func, ast.Attribute) and node.func.attr == "format" else []
