"""A query over C++ and CUDA files (rocm3d.scan.syntax_search); findings only where ROCm and CUDA builds both compile.

Further predicates: `#on-device? @a`, in a function for the device only; `#defines-macro? @a`, the file has a macro of
that name. A name is compared without spaces, template arguments, a leading `::`, and the quotes of an include.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tree_sitter import Node

from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.scan.syntax_search import PARAMETERS, SyntaxSearch, can_match
from rocm3d.syntax.cuda import CudaUnit

_PATHS = ("system_lib_string", "string_literal")
_NAMES = ("identifier", "qualified_identifier", "template_function", "type_identifier", "field_identifier")


class _CudaSearch(SyntaxSearch):
    unit: CudaUnit

    def name(self, node: Node) -> str:
        text = self.unit.head(node)
        if node.type in _PATHS:
            return text.strip('<>"')
        return "".join(text.split()).split("<", 1)[0].removeprefix("::")

    def fact(self, node: Node) -> str:
        return self.name(node) if node.type in (*_PATHS, *_NAMES) else super().fact(node)

    def is_relevant(self, node: Node) -> bool:
        return self.unit.is_shared(node.start_byte)

    def is_on_device(self, node: Node) -> bool:
        functions = ("function_definition", "lambda_expression")
        function = next((above for above in self.ancestors(node) if above.type in functions), None)
        kinds = set() if function is None else {child.type for child in function.children}
        return bool(kinds & {"__global__", "__device__"}) and "__host__" not in kinds

    def is_defines_macro(self, node: Node) -> bool:
        return self.name(node) in self._macros

    @cached_property
    def _macros(self) -> frozenset[str]:
        names = (n.child_by_field_name("name") for n in self.unit.nodes("preproc_def", "preproc_function_def"))
        return frozenset(self.unit.slice(name) for name in names if name is not None)


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    return _CudaSearch(unit, context).run()


matcher = Matcher(unit_types=CudaUnit, find=find, prefilter=can_match, parameters=PARAMETERS)
