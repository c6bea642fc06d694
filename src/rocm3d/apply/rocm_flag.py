"""Guarded edits of Python modules. Defines `is_rocm` in the form that the isolation proof accepts."""

from __future__ import annotations

import ast
import warnings

import libcst as cst
import libcst.matchers as m
from libcst.metadata import ParentNodeProvider, PositionProvider

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD, binds, imports_torch

_ROCM_CHECK = m.Attribute(attr=m.Name("hip")) | m.Name(ROCM_FLAG) | m.Name("ROCM_HOME")


class GuardedEdit(cst.CSTTransformer):
    """A transformer that skips code already guarded for ROCm and records the line of its first edit."""

    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self) -> None:
        super().__init__()
        self.first_line: int | None = None

    def record_edit(self, node: cst.CSTNode) -> None:
        line = self.get_metadata(PositionProvider, node).start.line
        self.first_line = line if self.first_line is None else min(self.first_line, line)

    def parent_of(self, node: cst.CSTNode) -> cst.CSTNode | None:
        parent_node = self.get_metadata(ParentNodeProvider, node, None)
        return parent_node if isinstance(parent_node, cst.CSTNode) else None

    def is_guarded(self, node: cst.CSTNode) -> bool:
        """Whether a condition or boolean expression around the node already checks for ROCm."""
        ancestor = self.parent_of(node)
        while ancestor is not None:
            condition = ancestor.test if isinstance(ancestor, (cst.If, cst.IfExp, cst.Assert)) else ancestor
            if isinstance(ancestor, (cst.If, cst.IfExp, cst.Assert, cst.BooleanOperation)) and m.findall(
                condition, _ROCM_CHECK
            ):
                return True
            ancestor = self.parent_of(ancestor)
        return False

    def parentheses(
        self, node: cst.CSTNode, *without_parentheses: type[cst.CSTNode]
    ) -> tuple[list[cst.LeftParen], list[cst.RightParen]]:
        """Parentheses for a new expression; none if the parent has one of these types and needs none."""
        return (
            ([], [])
            if isinstance(self.parent_of(node), without_parentheses)
            else ([cst.LeftParen()], [cst.RightParen()])
        )


def run_guarded_edit(data: bytes, edit: GuardedEdit) -> bytes:
    """Run the edit and define the flag in the module; returns the same bytes if nothing was edited."""
    try:
        # Python's parser first: on deeply nested code it raises, while libcst overflows the stack and ends the process.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        module = cst.MetadataWrapper(cst.parse_module(data)).visit(edit)
    except (cst.ParserSyntaxError, SyntaxError, LookupError, RecursionError, MemoryError, ValueError) as error:
        raise RewriteRefusedError(
            f"does not parse as Python: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from error
    if edit.first_line is None:
        return data
    return _with_flag(module, tree, edit.first_line).bytes


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


def backend_expression(
    rocm: cst.BaseExpression, cuda: cst.BaseExpression, edit: GuardedEdit, node: cst.CSTNode
) -> cst.IfExp:
    """`rocm if is_rocm else cuda`, in parentheses where the node's parent needs them. Records the edit."""
    edit.record_edit(node)
    left, right = edit.parentheses(node, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Arg, cst.DictElement, cst.Return)
    return cst.IfExp(body=rocm, test=cst.Name(ROCM_FLAG), orelse=cuda, lpar=left, rpar=right)


def string_value(node: cst.BaseExpression) -> str | None:
    """The value of a plain string literal; None for any other node."""
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return value if isinstance(value, str) else None
