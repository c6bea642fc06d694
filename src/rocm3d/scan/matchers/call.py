"""Calls of C++ functions among the rule's terms, unless the file defines a macro of that name.

Parameter `own_functions`: true if a function that the file defines or declares counts as a definition too.
Facts: call, name, why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import DetectorContext, Match, Matcher, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME_FIELD = {"preproc_def": "name", "preproc_function_def": "name", "function_declarator": "declarator"}


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    kinds = tuple(_NAME_FIELD) if context.parameters.get("own_functions") else ("preproc_def", "preproc_function_def")
    definitions = (node.child_by_field_name(_NAME_FIELD[node.type]) for node in unit.nodes(*kinds))
    own = {unit.slice(name) for name in definitions if name is not None}
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not unit.is_shared(call.start_byte):
            continue
        name = unit.head(function).removeprefix("::")
        if name in context.code.terms and name not in own:
            yield match_at(unit, call, call=name, name=name, why=context.code.terms[name])


matcher = Matcher(unit_types=CudaUnit, find=find, prefilter=contains_term, parameters={"own_functions": (True, False)})
