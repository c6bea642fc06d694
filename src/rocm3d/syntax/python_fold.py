"""Folds `torch.version.hip is not None` to False in a module: what an NVIDIA user's interpreter runs."""

from __future__ import annotations

import ast

GUARD = "torch.version.hip is not None"
FLAG = "is_rocm"

_GUARD_DUMP = ast.dump(ast.parse(GUARD, mode="eval").body)


class Unfoldable(ValueError):  # noqa: N818  (says what the module is)
    """The module cannot be judged: it does not parse, or the guard's names mean something else in it."""


def folded_dump(source: bytes, original: bytes) -> str:
    """The syntax tree of a module without ROCm, without positions.

    `original` decides which unguarded insertions are forgiven: `import torch`, only where the original imports torch
    unconditionally at module level and lacks that line, and one `is_rocm = <guard>`.
    """
    tree, before = _parse(source), _parse(original)
    if _is_flag_misused(tree):
        raise Unfoldable(f"{FLAG!r} has another meaning in this module")
    has_flag = any(_is_flag(node) for node in tree.body)
    forgive_import = imports_torch(before) and not _binds_torch(before)
    tree.body = [node for node in tree.body if not _is_flag(node) and not (forgive_import and _is_import_torch(node))]
    return ast.dump(_Folder(has_flag).visit(tree))


def imports_torch(tree: ast.Module) -> bool:
    """Whether importing the module always imports torch: only then may an edit add `import torch`."""
    return any(
        (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "torch" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "torch")
        for node in tree.body
    )


def _parse(source: bytes) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unfoldable(f"does not parse as Python: {error}") from error


def _is_import_torch(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and [(a.name, a.asname) for a in node.names] == [("torch", None)]


def _binds_torch(tree: ast.Module) -> bool:
    """Whether the name `torch` is bound by anything in the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "torch" and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = {alias.asname or alias.name.split(".")[0] for alias in node.names}
            if "torch" in bound:
                return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == "torch":
            return True
        if isinstance(node, ast.arg) and node.arg == "torch":
            return True
    return False


def _is_flag(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == FLAG
        and ast.dump(node.value) == _GUARD_DUMP
    )


def _is_flag_misused(tree: ast.Module) -> bool:
    """The flag must be assigned once, at module level, as the guard, before any use; nothing else may bind it."""
    stores = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == FLAG and not isinstance(n.ctx, ast.Load)]
    others = any(
        (isinstance(n, ast.arg) and n.arg == FLAG)
        or (isinstance(n, (ast.Global, ast.Nonlocal)) and FLAG in n.names)
        or (isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n.name == FLAG)
        or (isinstance(n, ast.alias) and (n.asname or n.name) == FLAG)
        for n in ast.walk(tree)
    )
    flags = [node for node in tree.body if _is_flag(node)]
    if not flags:
        return False  # whatever the name means here, it is the original's and is not folded
    return others or len(stores) != 1


class _Folder(ast.NodeTransformer):
    """Replaces the guard by False and resolves what that decides. Run over both versions, so equal code stays equal."""

    def __init__(self, has_flag: bool) -> None:
        self.has_flag = has_flag

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return ast.Constant(False) if ast.dump(node) == _GUARD_DUMP else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(False) if self.has_flag and node.id == FLAG else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        node.operand = _truth(node.operand)
        decided = _constant(node.operand)
        return node if decided is None else ast.Constant(not decided)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        return _joined(node.op, node.values, only_truth=False)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = _truth(node.test)
        decided = _constant(node.test)
        return node if decided is None else node.body if decided else node.orelse

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        node.test = _truth(node.test)
        decided = _constant(node.test)
        return node if decided is None else node.body if decided else node.orelse

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = _truth(node.test)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        node.test = _truth(node.test)
        return node


def _joined(operator: ast.boolop, values: list[ast.expr], *, only_truth: bool) -> ast.expr:
    """`and`/`or` with decided operands resolved, as Python evaluates them.

    A trailing neutral operand (`X or False`) changes the value of the whole unless X is a bool or only truth is asked.
    """
    neutral = isinstance(operator, ast.And)
    kept: list[ast.expr] = []
    for index, value in enumerate(values):
        decided = _constant(value)
        last = index == len(values) - 1
        if decided is neutral and (not last or (kept and (only_truth or _is_bool(kept[-1])))):
            continue
        kept.append(value)
        if decided is (not neutral):
            break
    return kept[0] if len(kept) == 1 else ast.BoolOp(operator, kept)


def _truth(node: ast.expr) -> ast.expr:
    """An expression of which only the truth is asked."""
    return (
        _joined(node.op, [_truth(value) for value in node.values], only_truth=True)
        if isinstance(node, ast.BoolOp)
        else node
    )


def _is_bool(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(_is_bool(value) for value in node.values)
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _constant(node: ast.expr) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None
