"""Folds `torch.version.hip is not None` to False in a module, as on an NVIDIA machine."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

ROCM_GUARD = "torch.version.hip is not None"
ROCM_FLAG = "is_rocm"

_NAME_BINDING_NODES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
)  # fmt: skip
_SCOPE_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_GUARD_DUMP = ast.dump(ast.parse(ROCM_GUARD, mode="eval").body)


class PythonFoldError(ValueError):
    """The module cannot be folded: it does not parse, or it uses the names of the guard for something else."""


def folded_dump(source: bytes, original: bytes) -> str:
    """The syntax tree of a module without ROCm, without positions.

    Two unguarded insertions are allowed: one `is_rocm = <guard>`, and `import torch` if `original` imports torch
    unconditionally at module level in another form.
    """
    tree, original_tree = parse_module(source), parse_module(original)
    if _is_flag_misused(tree):
        raise PythonFoldError(f"this module uses the name {ROCM_FLAG!r} for something else")
    has_flag = any(is_flag_assignment(node) for node in tree.body)
    if source != original and not _is_guard_bound(tree, original_tree):
        raise PythonFoldError("the guard or is_rocm is used where torch or is_rocm may not be defined yet")
    if source != original and _count_shadowed_guards(tree) > _count_shadowed_guards(original_tree):
        raise PythonFoldError("the guard is used in a function that rebinds torch")
    allow_import = imports_torch(original_tree) and "torch" not in scope_names(original_tree)
    tree.body = [
        node for node in tree.body if not is_flag_assignment(node) and not (allow_import and _is_import_torch(node))
    ]
    try:
        return ast.dump(_GuardFolder(has_flag).visit(tree))
    except RecursionError as error:
        raise PythonFoldError("the module is nested too deeply") from error


def imports_torch(tree: ast.Module) -> bool:
    """Whether the module imports torch unconditionally; only then may an edit add `import torch`."""
    return any(
        (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "torch" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "torch")
        for node in tree.body
    )


def binds(root: ast.AST, name: str) -> bool:
    return name in scope_names(root)


def parse_module(source: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarnings of the scanned code are not ours to report
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PythonFoldError(f"does not parse as Python: {error}") from error


def _is_import_torch(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and [(a.name, a.asname) for a in node.names] == [("torch", None)]


def _is_guard_bound(tree: ast.Module, original: ast.Module) -> bool:
    """Whether torch is bound unconditionally before any guard, and the flag is set before its first use.

    An added `import torch` must follow the original import of torch, so that torch is not imported earlier.
    """
    guards = [i for i, node in enumerate(tree.body) if any(is_guard(inner) for inner in ast.walk(node))]
    uses = [i for i, node in enumerate(tree.body) if not is_flag_assignment(node) and _mentions_flag(node)]
    flags = [i for i, node in enumerate(tree.body) if is_flag_assignment(node)]
    torch_imports = [i for i, node in enumerate(tree.body) if imports_torch(ast.Module([node], []))]
    torch_bindings = [i for i in torch_imports if "torch" in scope_names(tree.body[i])]
    if flags and any(use < flags[0] for use in uses):
        return False
    if guards and (not imports_torch(original) or not torch_bindings or guards[0] < torch_bindings[0]):
        return False
    added_imports = (
        [i for i in torch_imports if _is_import_torch(tree.body[i])] if "torch" not in scope_names(original) else []
    )
    return not added_imports or torch_imports[0] < added_imports[0]


def _count_shadowed_guards(tree: ast.Module) -> int:
    """The number of guards inside scopes where the name torch may be rebound or not bound yet."""
    count = 0
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, is_shadowed = stack.pop()
        count += is_shadowed and is_guard(node)
        is_shadowed = is_shadowed or (isinstance(node, _SCOPE_NODES) and _shadows_torch(node))
        stack.extend((child, is_shadowed) for child in ast.iter_child_nodes(node))
    return count


def _shadows_torch(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda) -> bool:
    """Whether a scope binds torch other than by an import that always runs before its guards."""
    parameters = () if isinstance(scope, ast.ClassDef) else ast.walk(scope.args)
    if any(isinstance(node, ast.arg) and node.arg == "torch" for node in parameters):
        return True
    if "torch" not in scope_names(scope):
        return False
    body = [] if isinstance(scope, ast.Lambda) else scope.body
    torch_imports = [i for i, node in enumerate(body) if isinstance(node, ast.Import) and "torch" in scope_names(node)]
    guards = [i for i, node in enumerate(body) if any(is_guard(inner) for inner in ast.walk(node))]
    others = any("torch" in scope_names(node) for i, node in enumerate(body) if i not in torch_imports)
    return others or not torch_imports or bool(guards and guards[0] < torch_imports[0])


def is_guard(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and ast.dump(node) == _GUARD_DUMP


def _mentions_flag(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == ROCM_FLAG for inner in ast.walk(node))


def walk_scope(root: ast.AST) -> Iterator[ast.AST]:
    """A node and its descendants, without the bodies of nested functions and classes."""
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        yield node
        if node is root or not isinstance(node, _SCOPE_NODES):
            stack.extend(ast.iter_child_nodes(node))


def scope_names(root: ast.AST) -> set[str]:
    """The names that a module, function or statement binds in its own scope."""
    names: set[str] = set()
    for node in walk_scope(root):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, _NAME_BINDING_NODES) and node is not root and node.name is not None:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            names.add(node.rest)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
    return names


def _is_generator(node: ast.AST) -> bool:
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in walk_scope(node))


def _declared_names(scope: ast.AST) -> set[str]:
    """Names that a function declares global or nonlocal, in any branch."""
    declarations = (node for node in walk_scope(scope) if isinstance(node, (ast.Global, ast.Nonlocal)))
    return {name for node in declarations for name in node.names}


def is_flag_assignment(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == ROCM_FLAG
        and ast.dump(node.value) == _GUARD_DUMP
    )


def _is_flag_misused(tree: ast.Module) -> bool:
    """Whether anything but one module-level assignment of the guard binds the flag."""
    if not any(is_flag_assignment(node) for node in tree.body):
        return False  # the name belongs to the original and is not folded
    bindings = sum(
        (isinstance(n, ast.Name) and n.id == ROCM_FLAG and not isinstance(n.ctx, ast.Load))
        or (isinstance(n, ast.arg) and n.arg == ROCM_FLAG)
        or (isinstance(n, (ast.Global, ast.Nonlocal)) and ROCM_FLAG in n.names)
        or (isinstance(n, _NAME_BINDING_NODES) and n.name == ROCM_FLAG)
        or (isinstance(n, ast.alias) and (n.asname or n.name) in (ROCM_FLAG, "*"))
        or (isinstance(n, ast.MatchMapping) and n.rest == ROCM_FLAG)
        for n in ast.walk(tree)
    )
    return bindings != 1


class _GuardFolder(ast.NodeTransformer):
    """Replaces the guard with False and simplifies. Applied to both versions, so equal code stays equal."""

    def __init__(self, has_flag: bool) -> None:
        self.has_flag = has_flag

    def _fold_scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.AST:
        """Fold a scope. Dead code still decides which names are local, what is a generator, and what is a docstring."""
        bound, is_generator, doc = scope_names(node), _is_generator(node), ast.get_docstring(node, clean=False)
        declared = _declared_names(node)
        self.generic_visit(node)
        if declared != _declared_names(node):
            raise PythonFoldError(f"a guarded branch declares names of {node.name} global or nonlocal")
        loads = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        shadowed = set() if isinstance(node, ast.ClassDef) else (bound - scope_names(node)) & loads
        if shadowed:
            raise PythonFoldError(f"a guarded branch makes {', '.join(sorted(shadowed))} local to {node.name}")
        if is_generator != _is_generator(node) or doc != ast.get_docstring(node, clean=False):
            raise PythonFoldError(f"a guarded branch makes {node.name} a generator or changes its docstring")
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _fold_scope  # noqa: N815

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return ast.Constant(False) if ast.dump(node) == _GUARD_DUMP else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(False) if self.has_flag and node.id == ROCM_FLAG else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        node.operand = _simplify_truth(node.operand)
        decided = _bool_constant(node.operand)
        return node if decided is None else ast.Constant(not decided)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        return _simplify_boolean(node.op, node.values, only_truth=False)

    def _fold_branches(self, node: ast.IfExp | ast.If) -> ast.AST | list[ast.stmt]:
        self._fold_test(node)
        decided = _bool_constant(node.test)
        return node if decided is None else node.body if decided else node.orelse

    def _fold_test(self, node: ast.IfExp | ast.If | ast.While | ast.Assert) -> ast.AST:
        self.generic_visit(node)
        node.test = _simplify_truth(node.test)
        return node

    visit_IfExp = visit_If = _fold_branches  # noqa: N815
    visit_While = visit_Assert = _fold_test  # noqa: N815


def _simplify_boolean(operator: ast.boolop, values: list[ast.expr], *, only_truth: bool) -> ast.expr:
    """`and`/`or` with constant operands removed, as Python evaluates them.

    A trailing neutral operand (`X or False`) affects the value unless X is a bool or only its truth is needed.
    """
    neutral = isinstance(operator, ast.And)
    operands: list[ast.expr] = []
    for index, value in enumerate(values):
        constant = _bool_constant(value)
        is_last = index == len(values) - 1
        if constant is neutral and (not is_last or (operands and (only_truth or _is_bool_expression(operands[-1])))):
            continue
        operands.append(value)
        if constant is (not neutral):
            break
    return operands[0] if len(operands) == 1 else ast.BoolOp(operator, operands)


def _simplify_truth(node: ast.expr) -> ast.expr:
    """Simplify an expression of which only the truth value matters."""
    return (
        _simplify_boolean(node.op, [_simplify_truth(value) for value in node.values], only_truth=True)
        if isinstance(node, ast.BoolOp)
        else node
    )


def _is_bool_expression(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(_is_bool_expression(value) for value in node.values)
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _bool_constant(node: ast.expr) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None
