"""Uses torch's attention where flash_attn is missing on ROCm.

Parameters: package, calls (supported functions), refuse_keywords, settings (the package's names in transformers).
The edit is at the import: a program that stops without the package gets functions of the same names there.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from typing import TypeVar

import libcst as cst

from rocm3d.apply.package_use import (
    ReplacedPackage,
    backend_branch,
    binds_torch,
    helper_functions,
    parse_statements,
    with_callees,
)
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import (
    GuardedEdit,
    checks_for_rocm,
    dotted_name,
    keyword_name,
    mentions,
    parse_or_refuse,
    run_guarded_edit,
    string_value,
    walk,
)
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.python_fold import ROCM_GUARD, binds

_NAMESPACE = "_torch_attention"
_CAUGHT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
_Node = TypeVar("_Node", cst.Arg, cst.DictElement)
_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Gives a fallback to each setting, and to each import without which the program stops."""
    package = ReplacedPackage.from_parameters(parameters)
    after, refusal = data, None
    if package.path.encode() in data:
        try:
            after = _ImportsEdit(parse_or_refuse(data), package).edited(data)
        except RewriteRefusedError as error:
            refusal = error
    if any(name.encode() in data for name in list_parameter(parameters, "settings")):
        after = run_guarded_edit(after, _SettingsEdit(parameters))
    if refusal is not None and after == data:
        raise refusal
    return after


class _ImportsEdit:
    """Edits the imports of the package in one module. Refused imports stay as they are if another one can be edited."""

    def __init__(self, module: cst.Module, package: ReplacedPackage) -> None:
        self.module, self.package = module, package
        self.refusals: list[RewriteRefusedError] = []

    def edited(self, data: bytes) -> bytes:
        body: list[_Statement] = []
        fallback_names: set[str] = set()
        insert_index = 0
        for statement in self.module.body:
            new, function_names = self._edited_statement(statement)
            if new is not statement and not binds_torch(body):
                raise RewriteRefusedError("torch is not imported unconditionally before the package")
            insert_index = len(body) if function_names and not fallback_names else insert_index
            fallback_names |= function_names
            body.append(new)
        if all(new is old for new, old in zip(body, self.module.body, strict=True)):
            if self.refusals:
                raise self.refusals[0]
            return data
        if fallback_names:
            body.insert(insert_index, _guarded_definitions(self.module, fallback_names))
        self.package.check_calls(self.module)
        return self.module.with_changes(body=body).bytes

    def _edited_statement(self, statement: cst.CSTNode) -> tuple[_Statement, Set[str]]:
        """The edited statement, and the fallback functions that imports inside functions need."""
        assert isinstance(statement, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        if isinstance(statement, cst.Try):
            return self._import_in_try(statement), set()
        if isinstance(statement, cst.If):
            return self._import_in_branch(statement) if _ends_in_error(statement) else statement, set()
        if isinstance(statement, cst.SimpleStatementLine):
            return self._module_level_import(statement), set()
        if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return statement, set()
        lazy_imports = _LazyImportTransformer(self.module, self.package)
        new = statement.visit(lazy_imports)
        assert isinstance(new, (cst.FunctionDef, cst.ClassDef))
        self.refusals += lazy_imports.refused
        return (new if lazy_imports.functions else statement), lazy_imports.functions

    def _module_level_import(self, line: cst.SimpleStatementLine) -> _Statement:
        """`from flash_attn import flash_attn_func` at module level."""
        import_node = self.package.find_import(line)
        if import_node is None:
            return line
        try:
            return _try_import_on_rocm(line, self._fallback([import_node]))
        except RewriteRefusedError as refusal:
            self.refusals.append(refusal)
            return line

    def _import_in_try(self, node: cst.Try) -> cst.Try:
        """`try: import flash_attn; FLAG = True, except ImportError: FLAG = False`, if other code requires FLAG."""
        lines = [*_block_statements(node.body), *(_block_statements(node.orelse.body) if node.orelse else [])]
        import_nodes = [import_node for import_node in map(self.package.find_import, lines) if import_node is not None]
        if not import_nodes or checks_for_rocm(node) or not self._is_required(node):
            return node
        flag_lines = [line for line in lines if self.package.find_import(line) is None]
        if (
            len(node.handlers) != 1
            or not _catches_import_error(node.handlers[0])
            or not all(map(_sets_constant, flag_lines))
        ):
            raise RewriteRefusedError("the try statement has more than the import, flags and one ImportError handler")
        handler = node.handlers[0]
        body = cst.IndentedBlock(
            [backend_branch(self._fallback(import_nodes, flag_lines), _block_statements(handler.body))]
        )
        return node.with_changes(handlers=[handler.with_changes(body=body)])

    def _import_in_branch(self, node: cst.If) -> cst.If:
        """`if A: import xformers, elif B: import flash_attn, else: raise`: the import gains a fallback."""
        old = [] if checks_for_rocm(node.test) else _block_statements(node.body)
        new = [self._line_with_fallback(line) for line in old]
        if any(line is not before for line, before in zip(new, old, strict=True)):
            node = node.with_changes(body=cst.IndentedBlock(new))
        if not isinstance(node.orelse, cst.If):
            return node
        other = self._import_in_branch(node.orelse)
        return node if other is node.orelse else node.with_changes(orelse=other)

    def _line_with_fallback(self, line: cst.BaseStatement) -> cst.BaseStatement:
        import_node = self.package.find_import(line)
        if import_node is None or not isinstance(line, cst.SimpleStatementLine):
            return line
        return _try_import_on_rocm(line, self._fallback([import_node]))

    def _fallback(
        self, import_nodes: Sequence[cst.Import | cst.ImportFrom], flags: Sequence[cst.BaseStatement] = ()
    ) -> list[cst.BaseStatement]:
        uses = [self.package.imported_functions(self.module, import_node) for import_node in import_nodes]
        names = sorted({name for use in uses for name in use.functions})
        if not names:
            raise RewriteRefusedError("the module uses nothing of the package")
        return helper_functions(names, [*parse_statements("".join(use.bindings for use in uses)), *flags])

    def _is_required(self, node: cst.Try) -> bool:
        """Whether the program stops without the package: in the handler, or at a later check of a flag."""
        if _has_raise(node.handlers[0] if node.handlers else node):
            return True
        targets = [part.target for part in walk(node) if isinstance(part, cst.AssignTarget)]
        flags = [target.value for target in targets if isinstance(target, cst.Name)]
        return any(
            mentions(stop.test, *flags)
            for stop in walk(self.module)
            if isinstance(stop, cst.Assert) or (isinstance(stop, cst.If) and _raises(stop))
        )


class _LazyImportTransformer(cst.CSTTransformer):
    """Edits imports inside functions, except those whose failure is handled (try, suppress, a check for ROCm)."""

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
        return not any(map(_catches_import_error, node.handlers))

    def visit_With(self, node: cst.With) -> bool:  # noqa: N802
        return not any(mentions(item, "suppress") for item in node.items)

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
        return _try_import_on_rocm(updated_node, parse_statements(bindings))

    def _binding_lines(self, import_statement: cst.Import | cst.ImportFrom) -> str:
        """Lines that bind the same names as the import, to the helper functions."""
        use = self.package.imported_functions(self.module, import_statement)
        if not use.functions:
            raise RewriteRefusedError("the module uses nothing of the package")
        self.functions.update(use.functions)
        assert not isinstance(import_statement.names, cst.ImportStar)
        if isinstance(import_statement, cst.Import):
            return f"{import_statement.names[0].evaluated_alias or self.package.path} = {_NAMESPACE}\n"
        bindings = [
            (alias.evaluated_alias or alias.evaluated_name, alias.evaluated_name) for alias in import_statement.names
        ]
        return "".join(f"{bound} = {_NAMESPACE}.{name}\n" for bound, name in bindings)


class _SettingsEdit(GuardedEdit):
    """Replaces `attn_implementation="flash_attention_2"` by sdpa, the name of torch's attention in transformers."""

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        return self._with_sdpa(keyword_name(original_node), original_node.value, updated_node)

    def leave_DictElement(  # noqa: N802
        self, original_node: cst.DictElement, updated_node: cst.DictElement
    ) -> cst.DictElement:
        return self._with_sdpa(string_value(original_node.key) or "", original_node.value, updated_node)

    def _with_sdpa(self, name: str, value: cst.BaseExpression, node: _Node) -> _Node:
        is_setting = name.endswith("attn_implementation") and string_value(value) in self.values("settings")
        if not is_setting or self.is_guarded(value):
            return node
        return node.with_changes(value=self.choose(cst.SimpleString('"sdpa"'), value, value))


def _block_statements(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    if isinstance(block, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(block.body)]
    return [line for line in block.body if isinstance(line, cst.BaseStatement)]


def _sets_constant(line: cst.CSTNode) -> bool:
    match line:
        case cst.SimpleStatementLine(body=[cst.Assign(value=cst.Name() | cst.SimpleString() | cst.Integer())]):
            return True
    return False


def _raises(node: cst.If) -> bool:
    """Whether the first or the last branch itself raises, not only a statement in it."""
    other = _block_statements(node.orelse.body) if isinstance(node.orelse, cst.Else) else []
    lines = [line for line in (*_block_statements(node.body), *other) if isinstance(line, cst.SimpleStatementLine)]
    return any(isinstance(small, cst.Raise) for line in lines for small in line.body)


def _has_raise(node: cst.CSTNode) -> bool:
    return any(isinstance(part, cst.Raise) for part in walk(node))


def _ends_in_error(node: cst.If) -> bool:
    last: cst.If | cst.Else | None = node
    while isinstance(last, cst.If):
        last = last.orelse
    return last is not None and _has_raise(last)


def _catches_import_error(handler: cst.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = [e.value for e in handler.type.elements] if isinstance(handler.type, cst.Tuple) else [handler.type]
    return any(dotted_name(kind) in _CAUGHT_ERRORS for kind in kinds)


def _try_import_on_rocm(line: cst.SimpleStatementLine, fallback: Sequence[cst.BaseStatement]) -> cst.If:
    """The import in a `try` on ROCm, with `fallback` as its handler; unchanged on other backends."""
    import_line = line.with_changes(leading_lines=[])
    handler = cst.ExceptHandler(cst.IndentedBlock(list(fallback)), cst.Name("ImportError"))
    chosen = backend_branch([cst.Try(cst.IndentedBlock([import_line]), [handler])], [import_line])
    return chosen.with_changes(leading_lines=line.leading_lines)


def _guarded_definitions(module: cst.Module, names: Set[str]) -> cst.If:
    """The guarded helper functions, and the namespace through which rewritten functions reach them."""
    tree = ast.parse(module.bytes)
    clashes = sorted(name for name in (*with_callees(sorted(names)), _NAMESPACE) if binds(tree, name))
    if clashes:
        raise RewriteRefusedError(f"the module already defines {clashes[0]}")
    attributes = ", ".join(f"{name}={name}" for name in sorted(names))
    lines = parse_statements(f"from types import SimpleNamespace\n{_NAMESPACE} = SimpleNamespace({attributes})\n")
    return cst.If(
        test=cst.parse_expression(ROCM_GUARD),
        body=cst.IndentedBlock(helper_functions(sorted(names), lines)),
        leading_lines=[cst.EmptyLine(indent=False)],
    )
