"""Replaces reduce of cooperative groups by a tree of the tile's shuffles on ROCm, and skips its header.

Parameters: header, function, operations (functors of the header), others (its names that need a manual edit), guard.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.apply.device_helpers import helper_sources
from rocm3d.apply.group_names import group_namespaces, is_tile
from rocm3d.apply.guarded_lines import (
    LineReplacement,
    Replacement,
    guard_lines,
    insert_guarded,
    offset_after_includes,
    replace_lines,
)
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked, directives
from rocm3d.syntax.lane_masks import arguments

_REDUCE = "rocm3d_reduce"
_ARGUMENTS = 3


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits the calls, inserts the functions that they need, and guards the include, which may be all there is."""
    unit = CudaUnit("", data)
    used, replacements = _edited_calls(unit, parameters)
    changed = guard_lines(data, replacements, parameters)
    if replacements:
        insert_at = offset_after_includes(changed, min(replacement.start for replacement in replacements))
        changed = insert_guarded(changed, insert_at, helper_sources(["reduce", *sorted(used)]).encode(), parameters)
    edited_unit = CudaUnit("", changed)
    includes = [
        LineReplacement(replacement.start, replacement.end, None)
        for replacement in directives(changed)
        if replacement.keyword == "include"
        and replacement.argument.strip('<>"') == parameters["header"]
        and edited_unit.is_shared(replacement.start)
    ]
    return replace_lines(changed, _joined(includes), parameters)


def _edited_calls(unit: CudaUnit, parameters: Parameters) -> tuple[set[str], list[Replacement]]:
    scopes, function_name = group_namespaces(unit), str(parameters["function"])
    pattern = re.compile(rf"(?:::)?(?:{'|'.join(scopes)})\s*::\s*{function_name}$")
    used: set[str] = set()
    replacements: list[Replacement] = []
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not pattern.match(unit.head(function)) or not unit.is_shared(call.start_byte):
            continue
        replacements.append(Replacement(function.start_byte, function.end_byte, _REDUCE.encode()))
        operation = _operation(unit, call, scopes, list_parameter(parameters, "operations"))
        if operation is not None:
            used.add(operation[1])
            replacements.append(
                Replacement(operation[0].start_byte, operation[0].end_byte, f"rocm3d_{operation[1]}()".encode())
            )
    _refuse_other_uses(
        unit,
        parameters,
        scopes,
        len([replacement for replacement in replacements if replacement.text == _REDUCE.encode()]),
    )
    return used, replacements


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
    uses = [match for match in pattern.finditer(blanked(unit.data)) if unit.is_shared(match.start())]
    if len(uses) != edited_calls:
        raise RewriteRefusedError("the header is used for more than plain calls of reduce")
    if re.search(rb"\busing\s+namespace\s+cooperative_groups\b", blanked(unit.data)) and re.search(
        rf"(?<![\w:.]){parameters['function']}\s*\(".encode(), blanked(unit.data)
    ):
        raise RewriteRefusedError("reduce may be called without its namespace")


def _joined(includes: list[LineReplacement]) -> list[LineReplacement]:
    """Joins adjacent lines, so that they share a guard."""
    joined: list[LineReplacement] = []
    for lines in includes:
        if joined and joined[-1].end == lines.start:
            joined[-1] = LineReplacement(joined[-1].start, lines.end, None)
        else:
            joined.append(lines)
    return joined
