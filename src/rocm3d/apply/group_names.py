"""Cooperative groups in a file: the names of their namespace, and which variables are tiles of fixed size."""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.apply.lane_calls import enclosing_function
from rocm3d.syntax.cuda import CudaUnit

_NAMESPACE = "cooperative_groups"
_ALIAS = re.compile(r"namespace\s+(\w+)\s*=\s*(?:::)?cooperative_groups\s*;")


def group_namespaces(unit: CudaUnit) -> tuple[str, ...]:
    """The namespace's full name, the usual alias `cg`, and the aliases that the file defines."""
    nodes = unit.nodes("namespace_alias_definition")
    aliases = (match.group(1) for node in nodes if (match := _ALIAS.search(unit.slice(node))) is not None)
    return tuple(dict.fromkeys((_NAMESPACE, "cg", *aliases)))


def is_tile(unit: CudaUnit, group: Node) -> bool:
    """Whether the enclosing function declares the variable as a tile. In HIP, tiles have shuffles and a size."""
    if group.type != "identifier":
        return False
    name, function = re.escape(unit.slice(group)), unit.slice(enclosing_function(unit, group))
    partitioned = re.search(rf"\b{name}\s*(?:=|\()\s*[\w:]*\btiled_partition\s*<", function)
    typed = re.search(rf"\bthread_block_tile\s*<[^;{{}}()]*>\s*(?:const\s*)?&?\s*{name}\b", function)
    return partitioned is not None or typed is not None
