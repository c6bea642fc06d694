"""Replaces reduce of cooperative groups by a tree of the tile's shuffles on ROCm, and skips its header.

Parameters: header, function, operations (functors of the header), others (its names that need a manual edit), guard.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.apply.guarded_lines import (
    Replacement,
    guard_lines,
    hidden_lines,
    insert_helpers,
    replace_lines,
    shared_includes,
    shared_matches,
)
from rocm3d.apply.lanes import group_namespaces, is_tile
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lane_masks import arguments

_ARGUMENTS = 3


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits the calls, inserts the functions that they need, and guards the include, which may be all there is."""
    unit = CudaUnit("", data)
    used, replacements = _edited_calls(unit, parameters)
    changed = guard_lines(data, replacements, parameters)
    if replacements:
        changed = insert_helpers(changed, ["reduce", *sorted(used)], parameters, replacements)
    edited_includes = shared_includes(CudaUnit("", changed))
    skipped = [directive for directive, header in edited_includes if header == parameters["header"]]
    return replace_lines(changed, hidden_lines(skipped), parameters)


def _edited_calls(unit: CudaUnit, parameters: Parameters) -> tuple[set[str], list[Replacement]]:
    scopes, function_name = group_namespaces(unit), str(parameters["function"])
    pattern = re.compile(rf"(?:::)?(?:{'|'.join(scopes)})\s*::\s*{function_name}$")
    used: set[str] = set()
    calls: list[Replacement] = []
    operations: list[Replacement] = []
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not pattern.match(unit.head(function)) or not unit.is_shared(call.start_byte):
            continue
        calls.append(Replacement.of(function, "rocm3d_reduce"))
        operation = _operation(unit, call, scopes, list_parameter(parameters, "operations"))
        if operation is not None:
            used.add(operation[1])
            operations.append(Replacement.of(operation[0], f"rocm3d_{operation[1]}()"))
    _refuse_other_uses(unit, parameters, scopes, len(calls))
    return used, [*calls, *operations]


def _operation(
    unit: CudaUnit, call: Node, scopes: tuple[str, ...], known_operations: tuple[str, ...]
) -> tuple[Node, str] | None:
    call_arguments = arguments(call)
    if len(call_arguments) != _ARGUMENTS or not is_tile(unit, call_arguments[0]):
        raise RewriteRefusedError("reduce is called on a group that is not a tile of fixed size")
    match = re.match(rf"(?:::)?(?:{'|'.join(scopes)})\s*::\s*(\w+)", unit.slice(call_arguments[2]))
    if match is not None and match.group(1) not in known_operations:
        raise RewriteRefusedError(f"reduce is called with {match.group(0)}, which is not supported")
    return None if match is None else (call_arguments[2], match.group(1))


def _refuse_other_uses(unit: CudaUnit, parameters: Parameters, scopes: tuple[str, ...], edited_calls: int) -> None:
    """Refuses uses of the header beyond the edited calls: in macros, or of its other names."""
    names = "|".join((str(parameters["function"]), *list_parameter(parameters, "others")))
    pattern = re.compile(rf"\b(?:{'|'.join(scopes)})\s*::\s*({names})\b".encode())
    if len(shared_matches(unit, pattern)) != edited_calls:
        raise RewriteRefusedError("the header is used for more than plain calls of reduce")
    if re.search(rb"\busing\s+namespace\s+cooperative_groups\b", blanked(unit.data)) and re.search(
        rf"(?<![\w:.]){parameters['function']}\s*\(".encode(), blanked(unit.data)
    ):
        raise RewriteRefusedError("reduce may be called without its namespace")
