"""Imports of a package inside functions: if one fails on ROCm, helper functions defined once per module replace it."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import asks_for_rocm, by_backend, functions, statements, with_callees
from rocm3d.apply.package_use import Package
from rocm3d.apply.rewrite import Refuse
from rocm3d.syntax.python_fold import ROCM_GUARD, binds

NAMES = "_torch_attention"
_CATCHES = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


@dataclass(frozen=True)
class Lazy:
    """The rewritten function or class, the names of the helper functions it needs, and the refused imports."""

    statement: cst.FunctionDef | cst.ClassDef
    names: frozenset[str]
    refused: tuple[Refuse, ...]


def lazy(statement: cst.FunctionDef | cst.ClassDef, module: cst.Module, package: Package) -> Lazy:
    """Rewrite each import inside a function; returns the same statement if none can be rewritten."""
    edit = _Lazy(module, package)
    new = statement.visit(edit)
    assert isinstance(new, (cst.FunctionDef, cst.ClassDef))
    return Lazy(new if edit.names else statement, frozenset(edit.names), tuple(edit.refused))


class _Lazy(cst.CSTTransformer):
    """Leaves imports alone whose failure the repository already handles (try, suppress, a check for ROCm)."""

    def __init__(self, module: cst.Module, package: Package) -> None:
        super().__init__()
        self.module, self.package = module, package
        self.names: set[str] = set()
        self.refused: list[Refuse] = []
        self._scopes: list[cst.CSTNode] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:  # noqa: N802
        self._scopes.append(node)

    def leave_FunctionDef(  # noqa: N802
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        assert self._scopes.pop() is original_node
        return updated_node

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802
        self._scopes.append(node)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:  # noqa: N802
        assert self._scopes.pop() is original_node
        return updated_node

    def visit_If(self, node: cst.If) -> bool:  # noqa: N802
        return not asks_for_rocm(node.test)

    def visit_Try(self, node: cst.Try) -> bool:  # noqa: N802
        return not any(map(catches, node.handlers))

    def visit_With(self, node: cst.With) -> bool:  # noqa: N802
        return not any(m.findall(item, m.Name("suppress")) for item in node.items)

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        taken = self.package.imports(original_node)
        if taken is None or not self._scopes or not isinstance(self._scopes[-1], cst.FunctionDef):
            return updated_node
        try:
            bound = self._bound(taken)
        except Refuse as refusal:
            self.refused.append(refusal)
            return updated_node
        return tried_on_rocm(updated_node, statements(bound))

    def _bound(self, taken: cst.Import | cst.ImportFrom) -> str:
        """Lines that bind the same names as the import, to the helper functions."""
        use = self.package.use(self.module, taken)
        if not use.functions:
            raise Refuse("the module uses nothing of the package")
        self.names.update(use.functions)
        assert not isinstance(taken.names, cst.ImportStar)
        if isinstance(taken, cst.Import):
            return f"{taken.names[0].evaluated_alias or self.package.path} = {NAMES}\n"
        named = [(alias.evaluated_alias or alias.evaluated_name, alias.evaluated_name) for alias in taken.names]
        return "".join(f"{bound} = {NAMES}.{name}\n" for bound, name in named)


def catches(handler: cst.ExceptHandler) -> bool:
    """Whether the handler catches a failed import."""
    if handler.type is None:
        return True
    kinds = [e.value for e in handler.type.elements] if isinstance(handler.type, cst.Tuple) else [handler.type]
    return any(m.matches(kind, m.Name(name)) for kind in kinds for name in _CATCHES)


def tried_on_rocm(line: cst.SimpleStatementLine, instead: Sequence[cst.BaseStatement]) -> cst.If:
    """The import in a `try` on ROCm, with `fallback` as its handler; unchanged on other backends."""
    bare = line.with_changes(leading_lines=[])
    handler = cst.ExceptHandler(cst.IndentedBlock(list(instead)), cst.Name("ImportError"))
    chosen = by_backend([cst.Try(cst.IndentedBlock([bare]), [handler])], [bare])
    return chosen.with_changes(leading_lines=line.leading_lines)


def definitions(module: cst.Module, names: Set[str]) -> cst.If:
    """The guarded helper functions, and the namespace through which rewritten functions reach them."""
    tree = ast.parse(module.bytes)
    clashes = sorted(name for name in (*with_callees(sorted(names)), NAMES) if binds(tree, name))
    if clashes:
        raise Refuse(f"the module already defines {clashes[0]}")
    given = ", ".join(f"{name}={name}" for name in sorted(names))
    lines = statements(f"from types import SimpleNamespace\n{NAMES} = SimpleNamespace({given})\n")
    return cst.If(
        test=cst.parse_expression(ROCM_GUARD),
        body=cst.IndentedBlock(functions(sorted(names), lines)),
        leading_lines=[cst.EmptyLine(indent=False)],
    )
