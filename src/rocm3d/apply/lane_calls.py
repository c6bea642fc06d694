"""Calls of CUDA's warp intrinsics, and the macro aliases that restrict them to groups of 32 lanes on ROCm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from rocm3d.apply.lane_groups import Lanes, lanes_in_range, lanes_of_function
from rocm3d.apply.macro_aliases import AliasUse, MacroAlias
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lane_masks import ancestors_with_child, arguments
from rocm3d.syntax.rocm_shims import rocm_shim_names

# A mask of all 32 lanes: a literal or a macro.
FULL_MASK = re.compile(r"0[xX][fF]{8}[uU]?|~0[uU]?|-1|[A-Z][A-Z0-9_]*")
SHUFFLES = ("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync")
MASKED_CALLS = (*SHUFFLES, "__any_sync", "__all_sync", "__ballot_sync", "__match_any_sync")


@dataclass(frozen=True)
class LaneCall:
    """A call; [start, end) are the bytes of its name. `node` is None inside a macro's body."""

    name: str
    start: int
    end: int
    node: Node | None
    lanes: Lanes


def group_alias(call: LaneCall) -> AliasUse:
    """An alias for the call; its ROCm expansion is a helper of device/ that works on groups of 32 lanes."""
    base_name = call.name.strip("_").removesuffix("_sync")
    return AliasUse(
        call.start,
        call.end,
        MacroAlias(base_name.upper(), cuda=call.name, rocm=f"rocm3d_{base_name}", helpers=(base_name,)),
    )


def lane_calls(unit: CudaUnit, names: Iterable[str]) -> Iterator[LaneCall]:
    """Calls that both builds see, in code and macros, in file order, except names that the file defines for ROCm."""
    defined_for_rocm = {name.split("(")[0] for name in rocm_shim_names(unit)}
    remaining_names = [name for name in names if name not in defined_for_rocm]
    if not remaining_names:
        return
    called = re.compile(rb"(?<![\w.])(" + b"|".join(re.escape(name.encode()) for name in remaining_names) + rb")\s*\(")
    for match in called.finditer(blanked(unit.data)):
        if not unit.is_shared(match.start()) or _is_qualified(unit, match.start()):
            continue
        node = _call_at(unit, match.start(1), match.end(1))
        lanes = lanes_of_function(unit, node) if node is not None else _lanes_of_macro(unit, match.start(1))
        yield LaneCall(match.group(1).decode(), match.start(1), match.end(1), node, lanes)


def mask_argument(unit: CudaUnit, call: Node) -> str:
    """The source text of the first argument; empty if the call has none."""
    call_arguments = arguments(call)
    return unit.slice(call_arguments[0]) if call_arguments else ""


def enclosing_function(unit: CudaUnit, node: Node) -> Node:
    """The outermost function that contains the node; the node itself if there is none."""
    outermost = node
    for ancestor, _ in ancestors_with_child(node, unit.parents):
        if ancestor.type == "function_definition":
            outermost = ancestor
    return outermost


def _is_qualified(unit: CudaUnit, offset: int) -> bool:
    """`own::__ballot_sync` is the repository's own function; `::__ballot_sync` is CUDA's."""
    before = unit.data[max(0, offset - 80) : offset].rstrip()
    return before.endswith(b"::") and re.search(rb"[\w>]\s*::$", before) is not None


def _call_at(unit: CudaUnit, start: int, end: int) -> Node | None:
    identifier = unit.tree.root_node.descendant_for_byte_range(start, end)
    for ancestor, child in ancestors_with_child(identifier, unit.parents) if identifier is not None else ():
        if ancestor.type == "call_expression":
            function = ancestor.child_by_field_name("function")
            return ancestor if function is not None and function.id == child.id else None
        if ancestor.type == "function_declarator":
            raise RewriteRefusedError(f"{unit.data[start:end].decode()} is declared in this file")
        if ancestor.type not in ("qualified_identifier", "template_function"):
            return None
    return None


def _lanes_of_macro(unit: CudaUnit, offset: int) -> Lanes:
    for node in unit.nodes("preproc_def", "preproc_function_def"):
        if node.start_byte <= offset < node.end_byte:
            return lanes_in_range(unit, node.start_byte, node.end_byte)
    raise RewriteRefusedError("the parser does not recognise a call of a lane intrinsic")
