"""Replaces reduce of cooperative groups by a tree of the tile's shuffles on ROCm, and skips its header.

Parameters: header, function, operations (functors of the header), others (its names that need a manual edit), guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.device_text import helper_sources
from rocm3d.apply.group_names import is_tile, group_namespaces
from rocm3d.apply.guarded_lines import LineReplacement, Replacement, offset_after_includes, replace_lines, guard_lines, insert_guarded
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked, directives
from rocm3d.syntax.lanes import arguments

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.model.recipe import Parameters

_REDUCE = "rocm3d_reduce"
_ARGUMENTS = 3


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits the calls, inserts the functions that they need, and guards the include, which may be all there is."""
    unit = CudaUnit("", data)
    used, replacements = _calls(unit, parameters)
    changed = guard_lines(data, replacements, parameters)
    if replacements:
        at = offset_after_includes(changed, min(item.start for item in replacements))
        changed = insert_guarded(changed, at, helper_sources(["reduce", *sorted(used)]).encode(), parameters)
    left = CudaUnit("", changed)
    includes = [
        LineReplacement(item.start, item.end, None)
        for item in directives(changed)
        if item.keyword == "include"
        and item.argument.strip('<>"') == parameters["header"]
        and left.is_shared(item.start)
    ]
    return replace_lines(changed, _joined(includes), parameters)


def _calls(unit: CudaUnit, parameters: Parameters) -> tuple[set[str], list[Replacement]]:
    scopes, wanted = group_namespaces(unit), str(parameters["function"])
    spelt = re.compile(rf"(?:::)?(?:{'|'.join(scopes)})\s*::\s*{wanted}$")
    used: set[str] = set()
    found: list[Replacement] = []
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not spelt.match(unit.head(function)) or not unit.is_shared(call.start_byte):
            continue
        found.append(Replacement(function.start_byte, function.end_byte, _REDUCE.encode()))
        operation = _operation(unit, call, scopes, list_parameter(parameters, "operations"))
        if operation is not None:
            used.add(operation[1])
            found.append(
                Replacement(operation[0].start_byte, operation[0].end_byte, f"rocm3d_{operation[1]}()".encode())
            )
    _refuse_others(unit, parameters, scopes, len([item for item in found if item.text == _REDUCE.encode()]))
    return used, found


def _operation(unit: CudaUnit, call: Node, scopes: tuple[str, ...], known: tuple[str, ...]) -> tuple[Node, str] | None:
    given = arguments(call)
    if len(given) != _ARGUMENTS or not is_tile(unit, given[0]):
        raise RewriteRefusedError("reduce is called on a group that is not a tile of fixed size")
    match = re.match(rf"(?:::)?(?:{'|'.join(scopes)})\s*::\s*(\w+)", unit.slice(given[2]))
    if match is not None and match.group(1) not in known:
        raise RewriteRefusedError(f"reduce is called with {match.group(0)}, which is not supported")
    return None if match is None else (given[2], match.group(1))


def _refuse_others(unit: CudaUnit, parameters: Parameters, scopes: tuple[str, ...], answered: int) -> None:
    """Refuses uses of the header beyond the edited calls: in macros, or of its other names."""
    names = "|".join((str(parameters["function"]), *list_parameter(parameters, "others")))
    spelt = re.compile(rf"\b(?:{'|'.join(scopes)})\s*::\s*({names})\b".encode())
    seen = [match for match in spelt.finditer(blanked(unit.data)) if unit.is_shared(match.start())]
    if len(seen) != answered:
        raise RewriteRefusedError("the header is used for more than plain calls of reduce")
    if re.search(rb"\busing\s+namespace\s+cooperative_groups\b", blanked(unit.data)) and re.search(
        rf"(?<![\w:.]){parameters['function']}\s*\(".encode(), blanked(unit.data)
    ):
        raise RewriteRefusedError("reduce may be called without its namespace")


def _joined(includes: list[LineReplacement]) -> list[LineReplacement]:
    """Joins adjacent lines, so that they share a guard."""
    found: list[LineReplacement] = []
    for item in includes:
        if found and found[-1].end == item.start:
            found[-1] = LineReplacement(found[-1].start, item.end, None)
        else:
            found.append(item)
    return found


rewrite = Rewrite(__name__, edit)
