"""A query over C++ and CUDA files (rocm3d.scan.syntax_search).

Further predicates:

    #term-file? @a           the file name of an include, without its folders, is a term
    #scoped? @a              another scope precedes the name, as in `other::a`
    #on-device? @a           it is in a function for the device only
    #device-code? @a         it is in a function for the device, or for host and device
    #defines-macro? @a       the file has a macro of that name
    #defines? @a             the file has a macro or a function of that name
    #points-to-term? @a      the type that this pointer points to is a term
    #points-to? @a "NAME"    that type was collected as @known.NAME; it becomes the fact `pointee`
    #narrowed? @a            its value ends in a 32-bit variable, return value or cast, or as the argument of a function
                             among the terms; that is the fact `receiver`

A name is compared without spaces, template arguments, a leading `::`, and the quotes of an include. Parameters:
`builds` and `shim` (rocm3d.scan.builds).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property

from tree_sitter import Node

from rocm3d.scan import builds
from rocm3d.scan.detector import Clue, DetectorContext, Match, Matcher
from rocm3d.scan.syntax_search import PARAMETERS, SyntaxSearch, can_match
from rocm3d.syntax.cuda import CudaUnit, defined_names
from rocm3d.syntax.declarations import pointee_type, pointee_types
from rocm3d.syntax.lane_masks import NarrowReceivers

_PATHS = ("system_lib_string", "string_literal")
_NAMES = ("identifier", "qualified_identifier", "template_function", "type_identifier", "field_identifier")
_FUNCTIONS = ("function_definition", "lambda_expression")
_DEVICE = {"__global__", "__device__"}


class _CudaSearch(SyntaxSearch):
    unit: CudaUnit

    def name(self, node: Node) -> str:
        text = self.unit.head(node)
        if text.isidentifier():
            return text
        if node.type in _PATHS:
            return text.strip('<>"')
        return "".join(text.split()).split("<", 1)[0].removeprefix("::")

    def fact(self, node: Node) -> str:
        return self.name(node) if node.type in (*_PATHS, *_NAMES) else super().fact(node)

    def is_relevant(self, node: Node) -> bool:
        return self._is_compiled(node.start_byte)

    def is_term_file(self, node: Node) -> bool:
        self.term = name if (name := self.name(node).rsplit("/", 1)[-1]) in self.context.code.terms else ""
        return bool(self.term)

    def is_scoped(self, node: Node) -> bool:
        outer = self.unit.parents.get(node.id)
        return (
            outer is not None
            and outer.type == "qualified_identifier"
            and outer.child_by_field_name("scope") is not None
            and outer.child_by_field_name("name") == node
        )

    def is_on_device(self, node: Node) -> bool:
        return self.is_device_code(node) and "__host__" not in self._qualifiers(node)

    def is_device_code(self, node: Node) -> bool:
        return not _DEVICE.isdisjoint(self._qualifiers(node))

    def _qualifiers(self, node: Node) -> set[str]:
        function = next((above for above in self.ancestors(node) if above.type in _FUNCTIONS), None)
        return set() if function is None else {child.type for child in function.children}

    def is_defines_macro(self, node: Node) -> bool:
        return self.name(node) in self._macros

    def is_defines(self, node: Node) -> bool:
        return self.name(node) in self._macros | self._functions

    def is_points_to_term(self, node: Node) -> bool:
        self.term = self._pointee(node, "", self.context.code.terms)
        return bool(self.term)

    def is_points_to(self, node: Node, name: str) -> bool:
        return name in self.known and bool(self._pointee(node, name, self.known[name].names))

    def _pointee(self, node: Node, name: str, types: Collection[str]) -> str:
        """The type that the node points to if it is one of `types`, which this name stands for."""
        if name not in self._pointers:
            self._pointers[name] = {pointer: kind for pointer, kind in pointee_types(self.unit) if kind in types}
        kind = pointee_type(self.unit, node, self._pointers[name])
        self.facts["pointee"] = kind if kind is not None and kind in types else ""
        return self.facts["pointee"]

    def is_narrowed(self, node: Node) -> bool:
        receiver = self._narrow_receivers.receiver_32bit(node)
        self.facts["receiver"] = receiver or ""
        return receiver is not None

    @cached_property
    def _is_compiled(self) -> Callable[[int], bool]:
        return builds.relevance(self.unit, self.context)

    @cached_property
    def _pointers(self) -> dict[str, dict[str, str]]:
        return {}

    @cached_property
    def _narrow_receivers(self) -> NarrowReceivers:
        return NarrowReceivers(self.unit, self.context.code.terms)

    @cached_property
    def _macros(self) -> frozenset[str]:
        return defined_names(self.unit, "preproc_def", "preproc_function_def")

    @cached_property
    def _functions(self) -> frozenset[str]:
        return defined_names(self.unit, "function_declarator")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match | Clue]:
    return builds.unless_shimmed(unit, context, _CudaSearch(unit, context).run())


matcher = Matcher(
    unit_types=CudaUnit,
    find=find,
    prefilter=can_match,
    parameters={**PARAMETERS, **builds.PARAMETERS},
    required=("query",),
)
