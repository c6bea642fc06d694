"""Imports of a package inside functions: if one fails on ROCm, helper functions defined once per module replace it."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import (
    backend_branch,
    checks_for_rocm,
    helper_functions,
    parse_statements,
    with_callees,
)
from rocm3d.apply.package_use import ReplacedPackage
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.python_fold import ROCM_GUARD, binds

NAMESPACE = "_torch_attention"
_CAUGHT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


@dataclass(frozen=True)
class LazyImportResult:
    """The rewritten function or class, the names of the helper functions it needs, and the refused imports."""

    statement: cst.FunctionDef | cst.ClassDef
    functions: frozenset[str]
    refused: tuple[RewriteRefusedError, ...]


def rewrite_lazy_imports(
    statement: cst.FunctionDef | cst.ClassDef, module: cst.Module, package: ReplacedPackage
) -> LazyImportResult:
    """Rewrite each import inside a function; returns the same statement if none can be rewritten."""
    transformer = _LazyImportTransformer(module, package)
    new = statement.visit(transformer)
    assert isinstance(new, (cst.FunctionDef, cst.ClassDef))
    return LazyImportResult(
        new if transformer.functions else statement, frozenset(transformer.functions), tuple(transformer.refused)
    )


class _LazyImportTransformer(cst.CSTTransformer):
    """Leaves imports alone whose failure the repository already handles (try, suppress, a check for ROCm)."""

    def __init__(self, module: cst.Module, package: ReplacedPackage) -> None:
        super().__init__()
        self.module, self.package = module, package
        self.functions: set[str] = set()
        self.refused: list[RewriteRefusedError] = []
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
        return not checks_for_rocm(node.test)

    def visit_Try(self, node: cst.Try) -> bool:  # noqa: N802
        return not any(map(catches_import_error, node.handlers))

    def visit_With(self, node: cst.With) -> bool:  # noqa: N802
        return not any(m.findall(item, m.Name("suppress")) for item in node.items)

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        import_statement = self.package.find_import(original_node)
        if import_statement is None or not self._scopes or not isinstance(self._scopes[-1], cst.FunctionDef):
            return updated_node
        try:
            bindings = self._binding_lines(import_statement)
        except RewriteRefusedError as refusal:
            self.refused.append(refusal)
            return updated_node
        return try_import_on_rocm(updated_node, parse_statements(bindings))

    def _binding_lines(self, import_statement: cst.Import | cst.ImportFrom) -> str:
        """Lines that bind the same names as the import, to the helper functions."""
        use = self.package.imported_functions(self.module, import_statement)
        if not use.functions:
            raise RewriteRefusedError("the module uses nothing of the package")
        self.functions.update(use.functions)
        assert not isinstance(import_statement.names, cst.ImportStar)
        if isinstance(import_statement, cst.Import):
            return f"{import_statement.names[0].evaluated_alias or self.package.path} = {NAMESPACE}\n"
        bindings = [
            (alias.evaluated_alias or alias.evaluated_name, alias.evaluated_name) for alias in import_statement.names
        ]
        return "".join(f"{bound} = {NAMESPACE}.{name}\n" for bound, name in bindings)


def catches_import_error(handler: cst.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = [e.value for e in handler.type.elements] if isinstance(handler.type, cst.Tuple) else [handler.type]
    return any(m.matches(kind, m.Name(name)) for kind in kinds for name in _CAUGHT_ERRORS)


def try_import_on_rocm(line: cst.SimpleStatementLine, fallback: Sequence[cst.BaseStatement]) -> cst.If:
    """The import in a `try` on ROCm, with `fallback` as its handler; unchanged on other backends."""
    import_line = line.with_changes(leading_lines=[])
    handler = cst.ExceptHandler(cst.IndentedBlock(list(fallback)), cst.Name("ImportError"))
    chosen = backend_branch([cst.Try(cst.IndentedBlock([import_line]), [handler])], [import_line])
    return chosen.with_changes(leading_lines=line.leading_lines)


def guarded_definitions(module: cst.Module, names: Set[str]) -> cst.If:
    """The guarded helper functions, and the namespace through which rewritten functions reach them."""
    tree = ast.parse(module.bytes)
    clashes = sorted(name for name in (*with_callees(sorted(names)), NAMESPACE) if binds(tree, name))
    if clashes:
        raise RewriteRefusedError(f"the module already defines {clashes[0]}")
    attributes = ", ".join(f"{name}={name}" for name in sorted(names))
    lines = parse_statements(f"from types import SimpleNamespace\n{NAMESPACE} = SimpleNamespace({attributes})\n")
    return cst.If(
        test=cst.parse_expression(ROCM_GUARD),
        body=cst.IndentedBlock(helper_functions(sorted(names), lines)),
        leading_lines=[cst.EmptyLine(indent=False)],
    )
