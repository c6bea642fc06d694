"""One-line faults in Python source, made from its syntax tree.

Excluded: docstrings, annotations, imports, `__all__`, `TYPE_CHECKING` blocks and f-strings (Python 3.11 has no exact
positions inside those).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

COMPARISONS: dict[type[ast.cmpop], tuple[bytes, bytes]] = {
    ast.Lt: (rb"<", b"<="),
    ast.LtE: (rb"<=", b"<"),
    ast.Gt: (rb">", b">="),
    ast.GtE: (rb">=", b">"),
    ast.Eq: (rb"==", b"!="),
    ast.NotEq: (rb"!=", b"=="),
    ast.In: (rb"in", b"not in"),
    ast.NotIn: (rb"not\s+in", b"in"),
    ast.Is: (rb"is", b"is not"),
    ast.IsNot: (rb"is\s+not", b"is"),
}
ARITHMETIC: dict[type[ast.operator], tuple[bytes, bytes]] = {ast.Add: (rb"\+", b"-"), ast.Sub: (rb"-", b"+")}
ANNOTATIONS = {"annotation", "returns", "type_comment", "type_params"}
# Their arguments are for the type checker.
TYPING_CALLS = {"cast", "NewType", "ParamSpec", "TypeVar"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class NodeContext:
    """The line of a node's statement, and whether it runs when the module is imported.

    `names` are bound by a statement outside functions.
    """

    statement: int
    at_import: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceEdit:
    """Replaces bytes `start` to `end` of a line (1 is the first)."""

    operator: str
    line: int
    start: int
    end: int
    replacement: bytes
    context: NodeContext

    def apply_to(self, source: bytes) -> bytes:
        """The source with the fault."""
        lines = source.splitlines(keepends=True)
        text = lines[self.line - 1]
        lines[self.line - 1] = text[: self.start] + self.replacement + text[self.end :]
        return b"".join(lines)


@dataclass(frozen=True)
class Fault:
    """A fault that can be found again after line numbers or the indentation have changed.

    `occurrence` counts the lines of the file with the same text; `column` is in bytes, from the start of the text.
    """

    path: str
    line: int
    text: str
    occurrence: int
    operator: str
    column: int
    faulty_text: str

    @property
    def key(self) -> str:
        """Identifies the fault in results."""
        return f"{self.path} [{self.occurrence}] {self.operator} at {self.column}: {self.text} => {self.faulty_text}"


def possible_edits(source: bytes) -> list[SourceEdit]:
    """Every possible fault, in the order of the tree; some do not compile."""
    lines = source.splitlines()
    return [
        edit
        for node, context in _mutable_nodes(ast.parse(source), NodeContext(0, True))
        for edit in _node_edits(node, context, lines)
    ]


def compiles_differently(source: bytes, edit: SourceEdit) -> bool:
    """Whether the faulty source compiles to a different program."""
    changed = edit.apply_to(source)
    try:
        compile(changed, "fault", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


def fault_of_edit(path: str, source: bytes, edit: SourceEdit) -> Fault:
    """An edit as a fault that is independent of line numbers."""
    lines = [line.strip() for line in source.splitlines()]
    before, after = (text.splitlines()[edit.line - 1] for text in (source, edit.apply_to(source)))
    indentation = len(before) - len(before.lstrip())
    return Fault(
        path=path,
        line=edit.line,
        text=before.strip().decode(),
        occurrence=lines[: edit.line - 1].count(before.strip()),
        operator=edit.operator,
        column=edit.start - indentation,
        faulty_text=after.strip().decode(),
    )


def find_edit(fault: Fault, source: bytes) -> SourceEdit | None:
    """The edit for a fault in this version of its file; None if the line is gone."""
    numbers = [n for n, line in enumerate(source.splitlines(), 1) if line.strip() == fault.text.encode()]
    if fault.occurrence >= len(numbers):
        return None
    number = numbers[fault.occurrence]
    for edit in possible_edits(source):
        if edit.line == number and edit.operator == fault.operator:
            candidate = fault_of_edit(fault.path, source, edit)
            if (candidate.column, candidate.faulty_text) == (fault.column, fault.faulty_text):
                return edit
    return None


def _mutable_nodes(node: ast.AST, context: NodeContext) -> Iterator[tuple[ast.AST, NodeContext]]:
    """A node and its descendants that can have faults."""
    if _is_excluded(node):
        return
    if isinstance(node, ast.stmt):
        names = _bound_names(node) if context.at_import else ()
        context = NodeContext(node.lineno, context.at_import, names or context.names)
    yield node, context
    for field, value in ast.iter_fields(node):
        below = context
        if field == "body" and isinstance(node, (*FUNCTIONS, ast.Lambda)):
            below = NodeContext(context.statement, False)
        if field == "args" and isinstance(node, FUNCTIONS):
            # A default is evaluated at import and takes effect in a call.
            below = NodeContext(_first_line(node), False)
        for child in value if isinstance(value, list) else [value]:
            is_default = isinstance(node, ast.arguments) and isinstance(child, ast.Constant)
            if isinstance(child, ast.AST) and field not in ANNOTATIONS and not is_default:
                yield from _mutable_nodes(child, below)


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The first line of a function that runs when it is called."""
    code = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (code or node.body)[0].lineno


def _is_excluded(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.Subscript(value=ast.Name(id="Literal")):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in TYPING_CALLS
    return False


def _bound_names(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return (name,)
    return ()


EditValues = Iterator[tuple[str, int, int, int, bytes]]


def _node_edits(node: ast.AST, context: NodeContext, lines: list[bytes]) -> Iterator[SourceEdit]:
    by_tokens = (make(node, lines) for kind, make in TOKEN_OPERATORS.items() if isinstance(node, kind))
    by_nodes = (make(node) for kind, make in NODE_OPERATORS.items() if isinstance(node, kind))
    for edit_values in chain(by_tokens, by_nodes):
        yield from (SourceEdit(*values, context) for values in edit_values)


def _replace_node(operator: str, node: ast.AST | None, *replacements: bytes) -> EditValues:
    """Replace a whole node, if it is on one line."""
    if isinstance(node, (ast.expr, ast.stmt)) and node.lineno == node.end_lineno and node.end_col_offset is not None:
        for replacement in replacements:
            yield operator, node.lineno, node.col_offset, node.end_col_offset, replacement


def _replace_operator(
    operator: str, left: ast.expr, right: ast.expr, swap: tuple[bytes, bytes], lines: list[bytes]
) -> EditValues:
    """Replace the operator between two operands, if all of it is on one line."""
    token, replacement = swap
    if left.end_lineno == right.lineno and left.end_col_offset is not None:
        match = re.compile(token).search(lines[right.lineno - 1], left.end_col_offset, right.col_offset)
        if match:
            yield operator, right.lineno, match.start(), match.end(), replacement


def _comparison(node: ast.Compare, lines: list[bytes]) -> EditValues:
    operands = [node.left, *node.comparators]
    for left, right, kind in zip(operands, node.comparators, node.ops, strict=False):
        yield from _replace_operator("comparison", left, right, COMPARISONS[type(kind)], lines)


def _and_or(node: ast.BoolOp, lines: list[bytes]) -> EditValues:
    swap = (rb"and", b"or") if isinstance(node.op, ast.And) else (rb"or", b"and")
    for left, right in zip(node.values, node.values[1:], strict=False):
        yield from _replace_operator("and/or", left, right, swap, lines)


def _plus_minus(node: ast.BinOp, lines: list[bytes]) -> EditValues:
    if type(node.op) in ARITHMETIC:
        yield from _replace_operator("plus/minus", node.left, node.right, ARITHMETIC[type(node.op)], lines)


def _augmented(node: ast.AugAssign, lines: list[bytes]) -> EditValues:
    if type(node.op) in ARITHMETIC and isinstance(node.target, ast.expr):
        yield from _replace_operator("plus/minus", node.target, node.value, ARITHMETIC[type(node.op)], lines)


def _not(node: ast.UnaryOp, lines: list[bytes]) -> EditValues:
    if isinstance(node.op, ast.Not):
        match = re.compile(rb"not\s*").match(lines[node.lineno - 1], node.col_offset)
        if match:
            yield "not dropped", node.lineno, match.start(), match.end(), b""


def _constant(node: ast.Constant) -> EditValues:
    return _changed_constant(node, "true/false", "integer", "string")


def _changed_constant(node: ast.expr, boolean: str, integer: str, string: str) -> EditValues:
    match node:
        case ast.Constant(value=bool(value)):
            yield from _replace_node(boolean, node, repr(not value).encode())
        case ast.Constant(value=int(value)):
            yield from _replace_node(integer, node, str(value + 1).encode())
        case ast.Constant(value=str(value)):
            yield from _replace_node(string, node, repr(f"XX{value}XX").encode())
        case ast.Constant(value=bytes(value)):
            yield from _replace_node(string, node, repr(b"XX" + value + b"XX").encode())


def _default(node: ast.arguments) -> EditValues:
    for value in (*node.defaults, *node.kw_defaults):
        if value is not None:
            yield from _changed_constant(value, *["default argument"] * 3)


def _return(node: ast.Return) -> EditValues:
    if not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield from _replace_node("return None", node.value, b"None")


def _statement(node: ast.stmt) -> EditValues:
    """Statements whose absence is not a NameError at once."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    if all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets):
        yield from _replace_node("statement dropped", node, b"pass")


def _jump(node: ast.stmt) -> EditValues:
    return _replace_node("break/continue", node, b"continue" if isinstance(node, ast.Break) else b"break")


def _condition(node: ast.If | ast.IfExp) -> EditValues:
    return _replace_node("condition forced", node.test, b"True", b"False")


def _while(node: ast.While) -> EditValues:
    return _replace_node("condition forced", node.test, b"False")


def _filter(node: ast.comprehension) -> EditValues:
    for test in node.ifs:
        yield from _replace_node("condition forced", test, b"True", b"False")


# Operators that use the text between operands, and operators that use only the node.
TOKEN_OPERATORS: dict[type[ast.AST], Callable[..., EditValues]] = {
    ast.Compare: _comparison,
    ast.BoolOp: _and_or,
    ast.UnaryOp: _not,
    ast.BinOp: _plus_minus,
    ast.AugAssign: _augmented,
}
NODE_OPERATORS: dict[type[ast.AST] | tuple[type[ast.AST], ...], Callable[..., EditValues]] = {
    ast.Constant: _constant,
    ast.arguments: _default,
    ast.Return: _return,
    (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Delete, ast.Assert): _statement,
    (ast.Break, ast.Continue): _jump,
    (ast.If, ast.IfExp): _condition,
    ast.While: _while,
    ast.comprehension: _filter,
}
