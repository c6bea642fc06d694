"""Calls of CUDA's warp intrinsics, and the macro aliases that restrict them to groups of 32 lanes on ROCm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.apply.aliased_text import Alias, Use
from rocm3d.apply.lane_groups import lanes_in, lanes_meant
from rocm3d.apply.rewrite import Refuse
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lanes import arguments, ancestors_with_child
from rocm3d.syntax.own_names import rocm_shim_names

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.apply.lane_groups import Lanes
    from rocm3d.syntax.cuda import CudaUnit

# A mask of all 32 lanes: a literal or a macro.
FULL = re.compile(r"0[xX][fF]{8}[uU]?|~0[uU]?|-1|[A-Z][A-Z0-9_]*")
SHUFFLES = ("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync")
MASKED = (*SHUFFLES, "__any_sync", "__all_sync", "__ballot_sync", "__match_any_sync")


@dataclass(frozen=True)
class LaneCall:
    """A call; [start, end) are the bytes of its name. `node` is None inside a macro's body."""

    name: str
    start: int
    end: int
    node: Node | None
    lanes: Lanes


def group_use(call: LaneCall) -> Use:
    """An alias for the call; its ROCm expansion is a helper of device/ that works on groups of 32 lanes."""
    own = call.name.strip("_").removesuffix("_sync")
    return Use(call.start, call.end, Alias(own.upper(), cuda=call.name, rocm=f"rocm3d_{own}", needs=(own,)))


def lane_calls(unit: CudaUnit, names: Iterable[str]) -> Iterator[LaneCall]:
    """Calls that both builds see, in code and macros, in file order, except names that the file defines for ROCm."""
    own = {name.split("(")[0] for name in rocm_shim_names(unit)}
    wanted = [name for name in names if name not in own]
    if not wanted:
        return
    called = re.compile(rb"(?<![\w.])(" + b"|".join(re.escape(name.encode()) for name in wanted) + rb")\s*\(")
    for match in called.finditer(blanked(unit.data)):
        if not unit.is_shared(match.start()) or _is_qualified(unit, match.start()):
            continue
        node = _call_at(unit, match.start(1), match.end(1))
        lanes = lanes_meant(unit, node) if node is not None else _lanes_of_macro(unit, match.start(1))
        yield LaneCall(match.group(1).decode(), match.start(1), match.end(1), node, lanes)


def mask_of(unit: CudaUnit, call: Node) -> str:
    """The source text of the first argument; empty if the call has none."""
    given = arguments(call)
    return unit.slice(given[0]) if given else ""


def function_around(unit: CudaUnit, node: Node) -> Node:
    """The outermost function that contains the node; the node itself if there is none."""
    found = node
    for above, _ in ancestors_with_child(node, unit.parents):
        if above.type == "function_definition":
            found = above
    return found


def _is_qualified(unit: CudaUnit, at: int) -> bool:
    """`own::__ballot_sync` is the repository's own function; `::__ballot_sync` is CUDA's."""
    before = unit.data[max(0, at - 80) : at].rstrip()
    return before.endswith(b"::") and re.search(rb"[\w>]\s*::$", before) is not None


def _call_at(unit: CudaUnit, start: int, end: int) -> Node | None:
    found = unit.tree.root_node.descendant_for_byte_range(start, end)
    for above, child in ancestors_with_child(found, unit.parents) if found is not None else ():
        if above.type == "call_expression":
            function = above.child_by_field_name("function")
            return above if function is not None and function.id == child.id else None
        if above.type == "function_declarator":
            raise Refuse(f"{unit.data[start:end].decode()} is declared in this file")
        if above.type not in ("qualified_identifier", "template_function"):
            return None
    return None


def _lanes_of_macro(unit: CudaUnit, at: int) -> Lanes:
    for node in unit.nodes("preproc_def", "preproc_function_def"):
        if node.start_byte <= at < node.end_byte:
            return lanes_in(unit, node.start_byte, node.end_byte)
    raise Refuse("the parser does not recognise a call of a warp intrinsic")
