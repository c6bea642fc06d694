"""Guarded edits of Python modules. Defines `is_rocm` in the form that the isolation proof accepts."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterable, Iterator

import libcst as cst
from libcst.metadata import ParentNodeProvider, PositionProvider

from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD, binds, imports_torch


class GuardedEdit(cst.CSTTransformer):
    """A transformer that skips code already guarded for ROCm and records the line of its first edit.

    `refusal` is why it left code alone that it should edit. It counts only if nothing in the file is edited.
    """

    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self, parameters: Parameters | None = None) -> None:
        super().__init__()
        self.parameters = parameters or {}
        self.first_line: int | None = None
        self.refusal = ""

    def values(self, key: str) -> tuple[str, ...]:
        """The recipe's parameter as a tuple."""
        return list_parameter(self.parameters, key)

    def record_edit(self, node: cst.CSTNode) -> None:
        line = self.get_metadata(PositionProvider, node).start.line
        self.first_line = line if self.first_line is None else min(self.first_line, line)

    def parent_of(self, node: cst.CSTNode) -> cst.CSTNode | None:
        parent_node = self.get_metadata(ParentNodeProvider, node, None)
        return parent_node if isinstance(parent_node, cst.CSTNode) else None

    def ancestors(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        """Pairs (ancestor, its child on the path to the node), nearest first."""
        while (parent := self.parent_of(node)) is not None:
            yield parent, node
            node = parent

    def is_guarded(self, node: cst.CSTNode) -> bool:
        """Whether a condition or boolean expression around the node already checks for ROCm."""
        for ancestor, _ in self.ancestors(node):
            condition = ancestor.test if isinstance(ancestor, (cst.If, cst.IfExp, cst.Assert)) else ancestor
            is_condition = condition is not ancestor or isinstance(ancestor, cst.BooleanOperation)
            if is_condition and checks_for_rocm(condition, (ROCM_FLAG, "ROCM_HOME")):
                return True
        return False

    def side(self, node: cst.CSTNode) -> str:
        """`rocm` or `other`: the side of an enclosing choice by exactly our guard; empty without such a choice."""
        for ancestor, child in self.ancestors(node):
            if not isinstance(ancestor, (cst.If, cst.IfExp)) or child is ancestor.test:
                continue
            if cst.Module([]).code_for_node(ancestor.test) in (ROCM_GUARD, ROCM_FLAG):
                return "rocm" if child is ancestor.body else "other"
        return ""

    def is_chosen_for_rocm(self, node: cst.CSTNode) -> bool:
        """Whether another edit made the node the first value of `... if is_rocm else ...`."""
        parent = self.parent_of(node)
        return isinstance(parent, cst.IfExp) and parent.body is node and dotted_name(parent.test) == ROCM_FLAG

    def parentheses(
        self, node: cst.CSTNode, *without_parentheses: type[cst.CSTNode]
    ) -> tuple[list[cst.LeftParen], list[cst.RightParen]]:
        """Parentheses for a new expression; none if the parent has one of these types and needs none."""
        return (
            ([], [])
            if isinstance(self.parent_of(node), without_parentheses)
            else ([cst.LeftParen()], [cst.RightParen()])
        )

    def choose(self, rocm: cst.BaseExpression, cuda: cst.BaseExpression, node: cst.CSTNode) -> cst.IfExp:
        """`rocm if is_rocm else cuda` in place of the node, in parentheses where its parent needs them."""
        self.record_edit(node)
        left, right = self.parentheses(
            node, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Arg, cst.DictElement, cst.Return
        )
        return cst.IfExp(body=rocm, test=cst.Name(ROCM_FLAG), orelse=cuda, lpar=left, rpar=right)

    def not_rocm(self, node: cst.CSTNode) -> cst.UnaryOperation:
        """`not is_rocm` in place of the node or before it."""
        self.record_edit(node)
        return cst.UnaryOperation(cst.Not(), cst.Name(ROCM_FLAG))

    def skip_on_rocm(self, original_node: cst.CSTNode, updated_node: cst.SimpleStatementLine) -> cst.If:
        """The line under `if not is_rocm:`."""
        return cst.If(
            test=self.not_rocm(original_node),
            body=cst.IndentedBlock([updated_node.with_changes(leading_lines=[])]),
            leading_lines=updated_node.leading_lines,
        )


def run_guarded_edit(data: bytes, edit: GuardedEdit) -> bytes:
    """Run the edit and define the flag in the module; returns the same bytes if nothing was edited."""
    module = parse_or_refuse(data, edit)
    if edit.first_line is not None:
        return _with_flag(module, _syntax_tree(data), edit.first_line).bytes
    if edit.refusal:
        raise RewriteRefusedError(edit.refusal)
    return data


def parse_or_refuse(data: bytes, *edits: GuardedEdit) -> cst.Module:
    """The parsed module after the edits, without the flag."""
    try:
        _syntax_tree(data)
        module = cst.parse_module(data)
        for edit in edits:
            module = cst.MetadataWrapper(module).visit(edit)
    except (cst.ParserSyntaxError, SyntaxError, LookupError, RecursionError, MemoryError, ValueError) as error:
        raise RewriteRefusedError(
            f"does not parse as Python: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from error
    return module


def _syntax_tree(data: bytes) -> ast.Module:
    """Python's own parser: on deeply nested code it raises, while libcst overflows the stack and ends the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


def _with_flag(module: cst.Module, original: ast.Module, first_use: int) -> cst.Module:
    flag = _find_flag(original)
    if flag is not None:
        if first_use <= (flag.end_lineno or 0):
            raise RewriteRefusedError(f"the code to edit comes before the line that sets {ROCM_FLAG}")
        return module
    if any(isinstance(node, ast.Name) and node.id == ROCM_FLAG for node in ast.walk(original)):
        raise RewriteRefusedError(f"the module already uses the name {ROCM_FLAG} for something else")
    if not imports_torch(original):
        raise RewriteRefusedError("torch is not imported unconditionally at module level")
    if any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(original)):
        raise RewriteRefusedError(f"a star import may define another {ROCM_FLAG}")
    if not _binds_torch(original) and binds(original, "torch"):
        raise RewriteRefusedError("the name torch is bound by something other than a plain module-level import")
    index = _after_imports(original)
    if first_use <= (original.body[index - 1].end_lineno or 0):
        raise RewriteRefusedError("the code to edit comes before the imports")
    return _insert_flag(module, index, [] if _binds_torch(original) else ["import torch"])


def _find_flag(tree: ast.Module) -> ast.stmt | None:
    flag_dump = ast.dump(ast.parse(f"{ROCM_FLAG} = {ROCM_GUARD}").body[0])
    return next((node for node in tree.body if ast.dump(node) == flag_dump), None)


def _binds_torch(tree: ast.Module) -> bool:
    imports = [node for node in tree.body if isinstance(node, ast.Import)]
    names = {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}
    return "torch" in names


def _after_imports(tree: ast.Module) -> int:
    """The index after the first block of imports that binds torch; if none binds it, that imports it indirectly."""
    importing = [index for index, node in enumerate(tree.body) if imports_torch(ast.Module([node], []))]
    binding = [index for index in importing if _binds_torch(ast.Module([tree.body[index]], []))]
    index = (binding or importing)[0] + 1
    while index < len(tree.body) and isinstance(tree.body[index], (ast.Import, ast.ImportFrom)):
        index += 1
    return index


def _insert_flag(module: cst.Module, statement_index: int, imports: list[str]) -> cst.Module:
    config = module.config_for_parsing
    flag = cst.parse_statement(f"{ROCM_FLAG} = {ROCM_GUARD}\n", config=config)
    added = [
        *(cst.parse_statement(f"{line}\n", config=config) for line in imports),
        flag.with_changes(leading_lines=[cst.EmptyLine(indent=False)]),
    ]
    index = _line_index(module, statement_index)
    return module.with_changes(body=[*module.body[:index], *added, *module.body[index:]])


def _line_index(module: cst.Module, statement_index: int) -> int:
    """libcst keeps `a; b` as one line, ast as two statements; so count the statements inside lines."""
    statement_count = 0
    for index, node in enumerate(module.body):
        statement_count += len(node.body) if isinstance(node, cst.SimpleStatementLine) else 1
        if statement_count >= statement_index:
            return index + 1
    return len(module.body)


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything in it, in source order."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += reversed(current.children)


def mentions(node: cst.CSTNode, *names: str) -> bool:
    """Whether one of the names occurs anywhere in the node."""
    return any(isinstance(part, cst.Name) and part.value in names for part in walk(node))


def checks_for_rocm(node: cst.CSTNode, names: Collection[str] = (ROCM_FLAG,)) -> bool:
    """Whether the node reads `torch.version.hip` or one of the names."""
    return mentions(node, *names) or any(
        isinstance(part, cst.Attribute) and part.attr.value == "hip" for part in walk(node)
    )


def dotted_name(node: cst.CSTNode | None) -> str:
    """`a.b.c`; a node that is not a name becomes an empty part."""
    if isinstance(node, cst.Attribute):
        return f"{dotted_name(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def last_name(node: cst.CSTNode | None) -> str:
    return dotted_name(node).rpartition(".")[2]


def compares_with_none(node: cst.Comparison) -> bool:
    """Whether the comparison is `... is None` or `... is not None`."""
    match node.comparisons:
        case [cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name(value="None"))]:
            return True
    return False


def keyword_name(argument: cst.Arg) -> str:
    """The keyword of an argument; empty for a positional one."""
    return argument.keyword.value if argument.keyword else ""


def string_value(node: cst.BaseExpression) -> str | None:
    """The value of a plain string literal; None for any other node."""
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return value if isinstance(value, str) else None


def leading_text(node: cst.BaseExpression) -> str:
    """The text of a string literal, or of an f-string before its first value; empty for any other node."""
    if isinstance(node, cst.FormattedString):
        first = node.parts[0] if node.parts else None
        return first.value if isinstance(first, cst.FormattedStringText) else ""
    return string_value(node) or ""


def extended_list(value: cst.List, added: Iterable[str]) -> cst.List:
    """The list on one line, with strings added at its end."""
    elements = [element.with_changes(comma=cst.MaybeSentinel.DEFAULT) for element in value.elements]
    return cst.List([*elements, *(cst.Element(cst.SimpleString(f'"{text}"')) for text in added)])
