"""Guarded edits of Python modules. Defines `is_rocm` in the form that the isolation proof accepts."""

from __future__ import annotations

import ast
import warnings

import libcst as cst
import libcst.matchers as m
from libcst.metadata import ParentNodeProvider, PositionProvider

from rocm3d.apply.rewrite import Refuse
from rocm3d.syntax.python_fold import ROCM_FLAG, ROCM_GUARD, binds, imports_torch

_ROCM = m.Attribute(attr=m.Name("hip")) | m.Name(ROCM_FLAG) | m.Name("ROCM_HOME")


class GuardedEdit(cst.CSTTransformer):
    """A transformer that skips code already guarded for ROCm and records the line of its first edit."""

    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self) -> None:
        super().__init__()
        self.first_line: int | None = None

    def note(self, node: cst.CSTNode) -> None:
        line = self.get_metadata(PositionProvider, node).start.line
        self.first_line = line if self.first_line is None else min(self.first_line, line)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        found = self.get_metadata(ParentNodeProvider, node, None)
        return found if isinstance(found, cst.CSTNode) else None

    def is_guarded(self, node: cst.CSTNode) -> bool:
        """Whether a condition or boolean expression around the node already checks for ROCm."""
        around = self.parent(node)
        while around is not None:
            asked = around.test if isinstance(around, (cst.If, cst.IfExp, cst.Assert)) else around
            if isinstance(around, (cst.If, cst.IfExp, cst.Assert, cst.BooleanOperation)) and m.findall(asked, _ROCM):
                return True
            around = self.parent(around)
        return False

    def parentheses(
        self, node: cst.CSTNode, *bare: type[cst.CSTNode]
    ) -> tuple[list[cst.LeftParen], list[cst.RightParen]]:
        """Parentheses for a new expression; none if the parent has one of these types and needs none."""
        return ([], []) if isinstance(self.parent(node), bare) else ([cst.LeftParen()], [cst.RightParen()])


def edited(data: bytes, edit: GuardedEdit) -> bytes:
    """Run the edit and define the flag in the module; returns the same bytes if nothing was edited."""
    try:
        # Python's parser first: on deeply nested code it raises, while libcst overflows the stack and ends the process.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        module = cst.MetadataWrapper(cst.parse_module(data)).visit(edit)
    except (cst.ParserSyntaxError, SyntaxError, LookupError, RecursionError, MemoryError, ValueError) as error:
        raise Refuse(f"does not parse as Python: {(str(error).splitlines() or [type(error).__name__])[0]}") from error
    if edit.first_line is None:
        return data
    return _with_flag(module, tree, edit.first_line).bytes


def _with_flag(module: cst.Module, original: ast.Module, first_use: int) -> cst.Module:
    flag = _flag(original)
    if flag is not None:
        if first_use <= (flag.end_lineno or 0):
            raise Refuse(f"the code to edit comes before the line that sets {ROCM_FLAG}")
        return module
    if any(isinstance(node, ast.Name) and node.id == ROCM_FLAG for node in ast.walk(original)):
        raise Refuse(f"the module already uses the name {ROCM_FLAG} for something else")
    if not imports_torch(original):
        raise Refuse("torch is not imported unconditionally at module level")
    if any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(original)):
        raise Refuse(f"a star import may define another {ROCM_FLAG}")
    if not _binds_torch(original) and binds(original, "torch"):
        raise Refuse("the name torch is bound by something other than a plain module-level import")
    place = _after_imports(original)
    if first_use <= (original.body[place - 1].end_lineno or 0):
        raise Refuse("the code to edit comes before the imports")
    return _inserted(module, place, [] if _binds_torch(original) else ["import torch"])


def _flag(tree: ast.Module) -> ast.stmt | None:
    wanted = ast.dump(ast.parse(f"{ROCM_FLAG} = {ROCM_GUARD}").body[0])
    return next((node for node in tree.body if ast.dump(node) == wanted), None)


def _binds_torch(tree: ast.Module) -> bool:
    imports = [node for node in tree.body if isinstance(node, ast.Import)]
    names = {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}
    return "torch" in names


def _after_imports(tree: ast.Module) -> int:
    """The index after the first block of imports that binds torch; if none binds it, that imports it indirectly."""
    brings = [index for index, node in enumerate(tree.body) if imports_torch(ast.Module([node], []))]
    binds = [index for index in brings if _binds_torch(ast.Module([tree.body[index]], []))]
    index = (binds or brings)[0] + 1
    while index < len(tree.body) and isinstance(tree.body[index], (ast.Import, ast.ImportFrom)):
        index += 1
    return index


def _inserted(module: cst.Module, place: int, imports: list[str]) -> cst.Module:
    config = module.config_for_parsing
    flag = cst.parse_statement(f"{ROCM_FLAG} = {ROCM_GUARD}\n", config=config)
    added = [
        *(cst.parse_statement(f"{line}\n", config=config) for line in imports),
        flag.with_changes(leading_lines=[cst.EmptyLine(indent=False)]),
    ]
    index = _line_index(module, place)
    return module.with_changes(body=[*module.body[:index], *added, *module.body[index:]])


def _line_index(module: cst.Module, place: int) -> int:
    """libcst keeps `a; b` as one line, ast as two statements; so count the statements inside lines."""
    seen = 0
    for index, node in enumerate(module.body):
        seen += len(node.body) if isinstance(node, cst.SimpleStatementLine) else 1
        if seen >= place:
            return index + 1
    return len(module.body)


def chosen(rocm: cst.BaseExpression, cuda: cst.BaseExpression, edit: GuardedEdit, place: cst.CSTNode) -> cst.IfExp:
    """`rocm if is_rocm else cuda`, in parentheses where the node's parent needs them. Records the edit."""
    edit.note(place)
    left, right = edit.parentheses(
        place, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Arg, cst.DictElement, cst.Return
    )
    return cst.IfExp(body=rocm, test=cst.Name(ROCM_FLAG), orelse=cuda, lpar=left, rpar=right)


def text_of(node: cst.BaseExpression) -> str | None:
    """The value of a plain string literal; None for any other node."""
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return value if isinstance(value, str) else None
