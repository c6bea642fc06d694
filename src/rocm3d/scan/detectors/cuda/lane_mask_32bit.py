"""A 32-bit lane mask in a `*_sync` intrinsic: HIP asserts a 64-bit mask type.

The mask may be a literal, a constant, a macro, a variable or a parameter, and the call may be inside a macro. Masks
whose width is not certain from the file are not reported. A full mask that only other files use is reported at its
definition. A ROCm macro with the intrinsic's name, in any header of the repository, fixes the calls of all files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match, match_at
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import rocm_shim_names
from rocm3d.syntax.lane_masks import ancestors_with_child

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_INTRINSIC = re.compile(r"__(shfl|ballot|any|all|match_any|match_all|reduce)\w*_sync$")
_INTRINSIC_BYTES = re.compile(rb"__(?:shfl|ballot|any|all|match_any|match_all|reduce)[\w\x80-\xff]*_sync")
_INTEGER = re.compile(r"-?(0[xX][0-9a-fA-F]{1,64}|0[bB][01]{1,64}|[0-9]{1,64})[uU]?$")  # no long suffix
_NARROW_TYPE = re.compile(r"(std::)?u?int(8|16|32)_t|(un)?signed( int)?|int|uint|[uUiIsS](int)?32")
_QUALIFIER = re.compile(r"\b(const|constexpr|static|volatile)\b|&")
_FULL_MASK = re.compile(r"(?<![\w.])(0[xX][fF]{8}[uU]?|~\s*0[uU]?|-1)[\s)]*$")
_MASK_NAME = re.compile(r"(full|all|warps?|lanes?)\w*mask|mask\w*(full|all)", re.IGNORECASE)
_MASK_NAME_BYTES = re.compile(rb"(?:full|all|warps?|lanes?)[\w\x80-\xff]*mask|mask[\w\x80-\xff]*(?:full|all)")
_COMMENT = re.compile(r"//.*|/\*.*?\*/", re.DOTALL)
_FUNCTIONS = ("function_definition", "lambda_expression")
_SCOPES = ("translation_unit", "compound_statement", "for_statement", *_FUNCTIONS)
_MAX_DEPTH = 12
_OPEN, _CLOSE = b"void f() { auto probe = ", b"\n;}"  # a macro body is parsed between these


@dataclass(frozen=True)
class _Call:
    """A call and, if it is inside a macro body, that macro. `offset` maps positions in `unit` to the file."""

    unit: CudaUnit
    node: Node
    macro: Node | None = None
    offset: int = 0

    @property
    def name(self) -> str:
        """The function name without template arguments and leading `::`."""
        function = self.node.child_by_field_name("function")
        return "" if function is None else self.unit.head(function).split("<")[0].lstrip(":")

    @property
    def arguments(self) -> list[Node]:
        arguments = self.node.child_by_field_name("arguments")
        return [] if arguments is None else [node for node in arguments.named_children if node.type != "comment"]


@dataclass(frozen=True)
class _MaskAnalysis:
    """The declarations of one file that decide the width of its masks."""

    unit: CudaUnit

    @cached_property
    def macros(self) -> dict[str, list[tuple[Node, str | None]]]:
        """All definitions of each macro with their text. The text is None if only one backend compiles it."""
        definitions: dict[str, list[tuple[Node, str | None]]] = {}
        for define in self.unit.nodes("preproc_def", "preproc_function_def"):
            name, text = define.child_by_field_name("name"), define.child_by_field_name("value")
            if name is not None:
                value = "" if text is None else _COMMENT.sub("", self.unit.slice(text)).strip()
                shared_text = value if self.unit.is_shared(define.start_byte) else None
                definitions.setdefault(self.unit.slice(name), []).append((define, shared_text))
        return definitions

    def is_backend_specific(self, name: str) -> bool:
        """Whether a definition of this macro is for one backend only: then its uses are handled already."""
        return any(text is None for _, text in self.macros.get(name, []))

    @cached_property
    def variables(self) -> dict[str, list[tuple[Node, Node, Node | None]]]:
        """Variables and parameters by name: declaration, scope, initial value."""
        declarations: dict[str, list[tuple[Node, Node, Node | None]]] = {}
        for node in self.unit.nodes("declaration", "parameter_declaration", "optional_parameter_declaration"):
            scope = _enclosing(self.unit, node, _SCOPES if node.type == "declaration" else _FUNCTIONS)
            for declarator in node.children_by_field_name("declarator") if scope is not None else ():
                name = declarator.child_by_field_name("declarator") or declarator
                if scope is not None and name.type in ("identifier", "reference_declarator"):
                    key = self.unit.slice(name).lstrip("& ")
                    declarations.setdefault(key, []).append((node, scope, declarator.child_by_field_name("value")))
        return declarations

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Type aliases of the file. The type is "" if the alias is for one backend only."""
        aliases: dict[str, str] = {}
        for node in self.unit.nodes("alias_declaration", "type_definition"):
            name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
            kind = node.child_by_field_name("type")
            if name is not None and kind is not None:
                aliases[self.unit.slice(name)] = self.unit.slice(kind) if self.unit.is_shared(node.start_byte) else ""
        return aliases

    @cached_property
    def calls(self) -> list[_Call]:
        """Every call with arguments that both backends compile, in code and in macro bodies."""
        calls = [_Call(self.unit, node) for node in self.unit.nodes("call_expression")]
        for define in self.unit.nodes("preproc_function_def"):
            text = define.child_by_field_name("value")
            if text is not None:
                macro_unit = CudaUnit("", _OPEN + self.unit.data[text.start_byte : text.end_byte] + _CLOSE)
                offset = text.start_byte - len(_OPEN)
                calls += [_Call(macro_unit, node, define, offset) for node in macro_unit.nodes("call_expression")]
        return [call for call in calls if call.arguments and self.unit.is_shared(call.node.start_byte + call.offset)]

    @cached_property
    def wrappers(self) -> dict[str, int]:
        """Macros that pass one of their arguments on as a mask, with the index of that argument."""
        mask_positions: dict[str, int] = {}
        for call in self.calls:
            if call.macro is not None and _INTRINSIC.match(call.name):
                name, names = call.macro.child_by_field_name("name"), call.macro.child_by_field_name("parameters")
                parameter_names = (
                    [] if names is None else [self.unit.slice(parameter) for parameter in names.named_children]
                )
                mask = call.unit.slice(call.arguments[0]).strip("() ")
                if name is not None and mask in parameter_names and not self.is_backend_specific(self.unit.slice(name)):
                    mask_positions[self.unit.slice(name)] = parameter_names.index(mask)
        return mask_positions

    def is_narrow(self, unit: CudaUnit, node: Node, depth: int = _MAX_DEPTH) -> bool:
        """Whether an expression certainly has at most 32 bits."""
        inner = [child for child in node.named_children if child.type != "comment"]
        kind, operator = node.child_by_field_name("type"), node.child_by_field_name("operator")
        number = _INTEGER.match(unit.slice(node).replace("'", "")) if node.type == "number_literal" else None
        if depth == 0:
            return False
        if node.type in ("binary_expression", "parenthesized_expression", "unary_expression"):
            operands = inner[:1] if operator is not None and operator.type in ("<<", ">>") else inner
            return bool(operands) and all(self.is_narrow(unit, child, depth - 1) for child in operands)
        if node.type == "call_expression":  # a functional cast
            function = node.child_by_field_name("function")
            text = "" if function is None else unit.head(function)
            return self._is_narrow_type(text.removeprefix("static_cast").strip("<> "))
        if node.type == "identifier":
            return self._is_narrow_name(unit, node, depth)
        if node.type == "cast_expression":
            return kind is not None and self._is_narrow_type(unit.slice(kind))
        return number is not None and _parse_integer(number.group(1)) < 1 << 32

    def full_masks(self) -> Iterator[tuple[str, Node]]:
        """Macros and constants outside functions with a mask-like name and the value 0xffffffff."""
        for name, defines in self.macros.items():
            for define, text in defines:
                if (
                    text
                    and _MASK_NAME.search(name)
                    and _FULL_MASK.search(text)
                    and self._is_narrow_text(text, _MAX_DEPTH)
                ):
                    yield name, define
        for name, declarations in self.variables.items():
            for node, scope, value in declarations:
                kind = node.child_by_field_name("type")
                if _MASK_NAME.search(name) and value is not None and kind is not None and scope.type == _SCOPES[0]:
                    is_narrow = self._is_narrow_type(self.unit.slice(kind)) and self.unit.is_shared(node.start_byte)
                    if is_narrow and _FULL_MASK.search(self.unit.slice(value)):
                        yield name, node

    def _is_narrow_type(self, text: str) -> bool:
        kind = " ".join(_QUALIFIER.sub("", text).split())
        return bool(_NARROW_TYPE.fullmatch(self.aliases.get(kind, kind)))

    def _is_narrow_name(self, unit: CudaUnit, node: Node, depth: int) -> bool:
        name, offset = unit.slice(node), node.start_byte
        declarations = self.variables.get(name, []) if unit is self.unit else []
        visible = [
            declaration
            for declaration in declarations
            if declaration[1].start_byte <= offset < declaration[1].end_byte and declaration[0].start_byte < offset
        ]
        if visible:
            declared, _, value = max(
                visible, key=lambda declaration: (declaration[1].start_byte, declaration[0].start_byte)
            )
            kind = declared.child_by_field_name("type")
            if kind is None or not unit.is_shared(declared.start_byte):
                return False
            if unit.slice(kind) == "auto":
                return value is not None and self.is_narrow(unit, value, depth - 1)
            return self._is_narrow_type(unit.slice(kind))
        texts = [text for _, text in self.macros.get(name, [])]
        return bool(texts) and all(text is not None and self._is_narrow_text(text, depth - 1) for text in texts)

    def _is_narrow_text(self, text: str, depth: int) -> bool:
        probe = CudaUnit("", _OPEN + text.encode() + _CLOSE)
        values = [declarator.child_by_field_name("value") for declarator in probe.nodes("init_declarator")]
        return bool(values) and values[0] is not None and self.is_narrow(probe, values[0], depth)


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    """Matches calls with a narrow mask, and full masks that the file defines for other files."""
    analysis = _MaskAnalysis(unit)
    yield from (Clue(_clue_name(name)) for name in rocm_shim_names(unit) if _INTRINSIC.match(name))
    passed, reported = set(), set()
    for call in analysis.calls:
        passed |= {call.unit.head(argument) for argument in call.arguments}
        index = 0 if _INTRINSIC.match(call.name) else analysis.wrappers.get(call.name, -1)
        # A backend-specific macro may have the intrinsic's name.
        if not 0 <= index < len(call.arguments) or analysis.is_backend_specific(call.name):
            continue
        mask = call.arguments[index]
        text = call.unit.head(mask)
        if analysis.is_narrow(call.unit, mask):
            reported.add(text)
            line, column = unit.text.position(mask.start_byte + call.offset)
            yield Match(line, column, {"mask": text, "call": call.name}, unless=_clue_name(call.name))
    for name, node in analysis.full_masks():
        if name not in reported:
            # A mask passed to a function of another file is a note: that may be a wrapper for both backends.
            match = match_at(unit, node, mask=name, call="code that uses it")
            yield replace(match, severity="note") if name in passed else match


def _clue_name(name: str) -> str:
    return f"{detector.code} {name}"


def _enclosing(unit: CudaUnit, node: Node, kinds: tuple[str, ...]) -> Node | None:
    """The nearest enclosing node of one of these kinds."""
    return next((outer for outer, _ in ancestors_with_child(node, unit.parents) if outer.type in kinds), None)


def _parse_integer(text: str) -> int:
    return int(text, 10 if text.isdigit() else 0)


def _can_match(unit: CudaUnit, context: DetectorContext) -> bool:
    if _INTRINSIC_BYTES.search(unit.data):
        return True
    lower = unit.data.lower()
    return b"mask" in lower and _MASK_NAME_BYTES.search(lower) is not None


detector = Detector(__name__, code="CU101", unit_types=CudaUnit, find=find, prefilter=_can_match)
