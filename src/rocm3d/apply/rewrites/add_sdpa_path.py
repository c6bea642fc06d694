"""Uses torch's attention where flash_attn is missing on ROCm.

Parameters: package, calls (supported functions), refuse_keywords, settings (the package's names in transformers).
The edit is at the import: a program that stops without the package gets functions of the same names there.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TypeVar

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import (
    backend_branch,
    binds_torch,
    checks_for_rocm,
    helper_functions,
    parse_or_refuse,
    parse_statements,
)
from rocm3d.apply.lazy_import import catches_import_error, guarded_definitions, rewrite_lazy_imports, try_import_on_rocm
from rocm3d.apply.package_use import ReplacedPackage
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_RAISE = m.SimpleStatementLine([m.ZeroOrMore(), m.Raise(), m.ZeroOrMore()])
_Node = TypeVar("_Node", cst.Arg, cst.DictElement)
_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Gives a fallback to each setting, and to each import without which the program stops."""
    (package_name,) = list_parameter(parameters, "package")
    package = ReplacedPackage(
        package_name, list_parameter(parameters, "calls"), list_parameter(parameters, "refuse_keywords")
    )
    after, refusal = data, None
    if package_name.encode() in data:
        try:
            after = _ImportsEdit(parse_or_refuse(data), package).edited(data)
        except RewriteRefusedError as error:
            refusal = error
    settings = list_parameter(parameters, "settings")
    if any(name.encode() in data for name in settings):
        after = run_guarded_edit(after, _SettingsEdit(settings))
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
            body.insert(insert_index, guarded_definitions(self.module, fallback_names))
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
        lazy_imports = rewrite_lazy_imports(statement, self.module, self.package)
        self.refusals += lazy_imports.refused
        return lazy_imports.statement, lazy_imports.functions

    def _module_level_import(self, line: cst.SimpleStatementLine) -> _Statement:
        """`from flash_attn import flash_attn_func` at module level."""
        import_node = self.package.find_import(line)
        if import_node is None:
            return line
        try:
            return try_import_on_rocm(line, self._fallback([import_node]))
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
            or not catches_import_error(node.handlers[0])
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
        return try_import_on_rocm(line, self._fallback([import_node]))

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
        if m.findall(node.handlers[0] if node.handlers else node, m.Raise()):
            return True
        targets = m.findall(node, m.AssignTarget(target=m.Name()))
        flags = {t.target.value for t in targets if isinstance(t, cst.AssignTarget) and isinstance(t.target, cst.Name)}
        stops = [s for s in m.findall(self.module, m.Assert() | m.If()) if isinstance(s, cst.Assert) or _raises(s)]
        conditions = [stop.test for stop in stops if isinstance(stop, (cst.Assert, cst.If))]
        return any(m.findall(test, m.Name(flag)) for test in conditions for flag in flags)


class _SettingsEdit(GuardedEdit):
    """Replaces `attn_implementation="flash_attention_2"` by sdpa, the name of torch's attention in transformers."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        name = original_node.keyword.value if original_node.keyword else ""
        return self._with_sdpa(name, original_node.value, updated_node)

    def leave_DictElement(  # noqa: N802
        self, original_node: cst.DictElement, updated_node: cst.DictElement
    ) -> cst.DictElement:
        return self._with_sdpa(string_value(original_node.key) or "", original_node.value, updated_node)

    def _with_sdpa(self, name: str, value: cst.BaseExpression, node: _Node) -> _Node:
        if not name.endswith("attn_implementation") or string_value(value) not in self.names or self.is_guarded(value):
            return node
        return node.with_changes(value=backend_expression(cst.SimpleString('"sdpa"'), value, self, value))


def _block_statements(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    if isinstance(block, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(block.body)]
    return [line for line in block.body if isinstance(line, cst.BaseStatement)]


def _sets_constant(line: cst.CSTNode) -> bool:
    return m.matches(line, m.SimpleStatementLine([m.Assign(value=m.Name() | m.SimpleString() | m.Integer())]))


def _raises(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.If):
        return False
    other = _block_statements(node.orelse.body) if isinstance(node.orelse, cst.Else) else []
    return any(m.matches(line, _RAISE) for line in [*_block_statements(node.body), *other])


def _ends_in_error(node: cst.If) -> bool:
    last: cst.If | cst.Else | None = node
    while isinstance(last, cst.If):
        last = last.orelse
    return last is not None and bool(m.findall(last, m.Raise()))
