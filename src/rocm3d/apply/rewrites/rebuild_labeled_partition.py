"""Builds labeled partitions from ballots on ROCm: the lanes of a tile with the same label form a group.

Parameters: function, members (supported members of the group), guard.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.apply.lanes import enclosing_function, group_namespaces, is_tile
from rocm3d.apply.macro_aliases import AliasUse, MacroAlias, insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import arguments
from rocm3d.syntax.unit import walk

_ARGUMENTS = 2


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Calls the function through an alias. On ROCm its group has the supported members and no others."""
    unit, name = CudaUnit("", data), str(parameters["function"])
    pattern = re.compile(rf"(?:::)?(?:(?:{'|'.join(group_namespaces(unit))})\s*::\s*)?{name}$")
    uses = []
    for call in unit.nodes("call_expression"):
        function = call.child_by_field_name("function")
        if function is None or not pattern.match(unit.head(function)) or not unit.is_shared(call.start_byte):
            continue
        _refuse_unsupported_use(unit, call, list_parameter(parameters, "members"))
        alias = MacroAlias(name.upper(), cuda=unit.slice(function), rocm=f"rocm3d_{name}", helpers=(name,))
        uses.append(AliasUse(function.start_byte, function.end_byte, alias))
    if len({use.alias for use in uses}) > 1:
        raise RewriteRefusedError(f"this file spells {name} in more than one form")
    return insert_aliases(data, uses, parameters)


def _refuse_unsupported_use(unit: CudaUnit, call: Node, members: tuple[str, ...]) -> None:
    call_arguments, declaration = arguments(call), unit.parents[call.id]
    if len(call_arguments) != _ARGUMENTS or not is_tile(unit, call_arguments[0]):
        raise RewriteRefusedError("the partitioned group is not a tile of fixed size")
    name = declaration.child_by_field_name("declarator") if declaration.type == "init_declarator" else None
    type_node = unit.parents[declaration.id].child_by_field_name("type") if name is not None else None
    if name is None or type_node is None or unit.slice(type_node) != "auto":
        raise RewriteRefusedError("the group is not stored in a variable of type auto")
    for node in walk(enclosing_function(unit, call)):
        if node.type == "identifier" and unit.slice(node) == unit.slice(name) and node.start_byte > call.end_byte:
            member = unit.parents[node.id].child_by_field_name("field")
            if member is None or unit.slice(member) not in members:
                raise RewriteRefusedError(f"{unit.slice(name)} is used for more than its members {', '.join(members)}")
