"""Uses torch's attention where flash_attn is missing on ROCm.

Parameters: package, calls (supported functions), refuse_keywords, settings (the package's names in transformers).
The edit is at the import: a program that stops without the package gets functions of the same names there.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TypeVar

import libcst as cst
import libcst.matchers as m

from rocm3d.apply.guarded_import import checks_for_rocm, backend_branch, helper_functions, binds_torch, parse_or_refuse, parse_statements
from rocm3d.apply.lazy_import import catches_import_error, guarded_definitions, rewrite_lazy_imports, try_import_on_rocm
from rocm3d.apply.package_use import ReplacedPackage
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.apply.rocm_flag import GuardedEdit, backend_expression, run_guarded_edit, string_value
from rocm3d.model.recipe import Parameters

_RAISE = m.SimpleStatementLine([m.ZeroOrMore(), m.Raise(), m.ZeroOrMore()])
_Node = TypeVar("_Node", cst.Arg, cst.DictElement)
_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Gives a fallback to each setting, and to each import without which the program stops."""
    (path,) = list_parameter(parameters, "package")
    package = ReplacedPackage(path, list_parameter(parameters, "calls"), list_parameter(parameters, "refuse_keywords"))
    after, refusal = data, None
    if path.encode() in data:
        try:
            after = _Imports(parse_or_refuse(data), package).edited(data)
        except RewriteRefusedError as refused:
            refusal = refused
    settings = list_parameter(parameters, "settings")
    if any(name.encode() in data for name in settings):
        after = run_guarded_edit(after, _Settings(settings))
    if refusal is not None and after == data:
        raise refusal
    return after


class _Imports:
    """Edits the imports of the package in one module. Refused imports stay as they are if another one can be edited."""

    def __init__(self, module: cst.Module, package: ReplacedPackage) -> None:
        self.module, self.package = module, package
        self.refused: list[RewriteRefusedError] = []

    def edited(self, data: bytes) -> bytes:
        body: list[_Statement] = []
        names: set[str] = set()
        first = 0
        for statement in self.module.body:
            new, asked = self._statement(statement)
            if new is not statement and not binds_torch(body):
                raise RewriteRefusedError("torch is not imported unconditionally before the package")
            first = len(body) if asked and not names else first
            names |= asked
            body.append(new)
        if all(new is old for new, old in zip(body, self.module.body, strict=True)):
            if self.refused:
                raise self.refused[0]
            return data
        if names:
            body.insert(first, guarded_definitions(self.module, names))
        self.package.check_calls(self.module)
        return self.module.with_changes(body=body).bytes

    def _statement(self, statement: cst.CSTNode) -> tuple[_Statement, Set[str]]:
        """The edited statement, and the fallback functions that imports inside functions need."""
        assert isinstance(statement, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        if isinstance(statement, cst.Try):
            return self._tried(statement), set()
        if isinstance(statement, cst.If):
            return self._choice(statement) if _ends_in_error(statement) else statement, set()
        if isinstance(statement, cst.SimpleStatementLine):
            return self._firm(statement), set()
        if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return statement, set()
        found = rewrite_lazy_imports(statement, self.module, self.package)
        self.refused += found.refused
        return found.statement, found.functions

    def _firm(self, line: cst.SimpleStatementLine) -> _Statement:
        """`from flash_attn import flash_attn_func` at module level."""
        taken = self.package.find_import(line)
        if taken is None:
            return line
        try:
            return try_import_on_rocm(line, self._instead([taken]))
        except RewriteRefusedError as refusal:
            self.refused.append(refusal)
            return line

    def _tried(self, node: cst.Try) -> cst.Try:
        """`try: import flash_attn; FLAG = True, except ImportError: FLAG = False`, if other code requires FLAG."""
        lines = [*_lines(node.body), *(_lines(node.orelse.body) if node.orelse else [])]
        taken = [found for found in map(self.package.find_import, lines) if found is not None]
        if not taken or checks_for_rocm(node) or not self._is_insisted_on(node):
            return node
        rest = [line for line in lines if self.package.find_import(line) is None]
        if len(node.handlers) != 1 or not catches_import_error(node.handlers[0]) or not all(map(_sets_constant, rest)):
            raise RewriteRefusedError("the try statement has more than the import, flags and one ImportError handler")
        handler = node.handlers[0]
        body = cst.IndentedBlock([backend_branch(self._instead(taken, rest), _lines(handler.body))])
        return node.with_changes(handlers=[handler.with_changes(body=body)])

    def _choice(self, node: cst.If) -> cst.If:
        """`if A: import xformers, elif B: import flash_attn, else: raise`: the import gains a fallback."""
        old = [] if checks_for_rocm(node.test) else _lines(node.body)
        new = [self._line(line) for line in old]
        if any(line is not before for line, before in zip(new, old, strict=True)):
            node = node.with_changes(body=cst.IndentedBlock(new))
        if not isinstance(node.orelse, cst.If):
            return node
        other = self._choice(node.orelse)
        return node if other is node.orelse else node.with_changes(orelse=other)

    def _line(self, line: cst.BaseStatement) -> cst.BaseStatement:
        taken = self.package.find_import(line)
        if taken is None or not isinstance(line, cst.SimpleStatementLine):
            return line
        return try_import_on_rocm(line, self._instead([taken]))

    def _instead(
        self, taken: Sequence[cst.Import | cst.ImportFrom], flags: Sequence[cst.BaseStatement] = ()
    ) -> list[cst.BaseStatement]:
        uses = [self.package.imported_functions(self.module, each) for each in taken]
        names = sorted({name for use in uses for name in use.functions})
        if not names:
            raise RewriteRefusedError("the module uses nothing of the package")
        return helper_functions(names, [*parse_statements("".join(use.bindings for use in uses)), *flags])

    def _is_insisted_on(self, node: cst.Try) -> bool:
        """Whether the program stops without the package: in the handler, or at a later check of a flag."""
        if m.findall(node.handlers[0] if node.handlers else node, m.Raise()):
            return True
        targets = m.findall(node, m.AssignTarget(target=m.Name()))
        flags = {t.target.value for t in targets if isinstance(t, cst.AssignTarget) and isinstance(t.target, cst.Name)}
        stops = [s for s in m.findall(self.module, m.Assert() | m.If()) if isinstance(s, cst.Assert) or _raises(s)]
        asked = [stop.test for stop in stops if isinstance(stop, (cst.Assert, cst.If))]
        return any(m.findall(test, m.Name(flag)) for test in asked for flag in flags)


class _Settings(GuardedEdit):
    """Replaces `attn_implementation="flash_attention_2"` by sdpa, the name of torch's attention in transformers."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        name = original_node.keyword.value if original_node.keyword else ""
        return self._chosen(name, original_node.value, updated_node)

    def leave_DictElement(  # noqa: N802
        self, original_node: cst.DictElement, updated_node: cst.DictElement
    ) -> cst.DictElement:
        return self._chosen(string_value(original_node.key) or "", original_node.value, updated_node)

    def _chosen(self, name: str, value: cst.BaseExpression, node: _Node) -> _Node:
        if not name.endswith("attn_implementation") or string_value(value) not in self.names or self.is_guarded(value):
            return node
        return node.with_changes(value=backend_expression(cst.SimpleString('"sdpa"'), value, self, value))


def _lines(block: cst.BaseSuite) -> list[cst.BaseStatement]:
    if isinstance(block, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(block.body)]
    return [line for line in block.body if isinstance(line, cst.BaseStatement)]


def _sets_constant(line: cst.CSTNode) -> bool:
    return m.matches(line, m.SimpleStatementLine([m.Assign(value=m.Name() | m.SimpleString() | m.Integer())]))


def _raises(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.If):
        return False
    other = _lines(node.orelse.body) if isinstance(node.orelse, cst.Else) else []
    return any(m.matches(line, _RAISE) for line in [*_lines(node.body), *other])


def _ends_in_error(node: cst.If) -> bool:
    last: cst.If | cst.Else | None = node
    while isinstance(last, cst.If):
        last = last.orelse
    return last is not None and bool(m.findall(last, m.Raise()))


rewrite = Rewrite(__name__, edit)
