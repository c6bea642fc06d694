"""The lanes of CUDA code: calls of warp intrinsics, groups of 32 lanes or whole waves, and cooperative groups.

A function that counts lanes with `warpSize` follows the wave on ROCm, 64 lanes on some targets. One that counts with 32
keeps groups of 32 there: a wave of 64 contains two groups. A function that does both needs a manual edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from rocm3d.apply.macro_aliases import AliasUse, MacroAlias
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import rocm_shim_names
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.lane_masks import ancestors_with_child, arguments

Lanes = Literal["group", "wave"]

# A mask of all 32 lanes: a literal or a macro.
FULL_MASK = re.compile(r"0[xX][fF]{8}[uU]?|~0[uU]?|-1|[A-Z][A-Z0-9_]*")
ACTIVE_MASK = "__activemask"
SHUFFLES = ("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync")
MASKED_CALLS = (*SHUFFLES, "__any_sync", "__all_sync", "__ballot_sync", "__match_any_sync")
_BUILTIN = re.compile(rb"\bwarpSize\b")
# As the width of a shuffle, warpSize only means "all lanes".
_AS_WIDTH = re.compile(rb",\s*warpSize\s*\)")
_NAMED = re.compile(rb"\b(?!warpSize\b)k?_?(?:\w+_)?warp_?size\b", re.IGNORECASE)
_COUNTS_32 = re.compile(rb"[%/&]\s*(?:32|31|0x1[fF])[uU]?\b|>>\s*5\b|==\s*31\b|\b32\s*-\s*1\b")
_VALUE = rb"(?:#[ \t]*define[ \t]+%s[ \t]+|\b%s\s*=\s*)\(?\s*(\w+)"
_NAMESPACE = "cooperative_groups"
_ALIAS = re.compile(r"namespace\s+(\w+)\s*=\s*(?:::)?cooperative_groups\s*;")
_DEVICE = re.compile(rb"\b__(?:device|global)__\b")
_HOST = re.compile(rb"\b__host__\b")


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


def lanes_of_function(unit: CudaUnit, node: Node) -> Lanes:
    """What the function that contains the node counts with; raises RewriteRefusedError if that is ambiguous."""
    function = enclosing_function(unit, node)
    return lanes_in_range(unit, function.start_byte, function.end_byte)


def lanes_in_range(unit: CudaUnit, start: int, end: int) -> Lanes:
    """The same for bytes [start, end) of the file."""
    text = _AS_WIDTH.sub(b"", blanked(unit.data)[start:end])
    by_wave = bool(_BUILTIN.search(text))
    by_32 = bool(_COUNTS_32.search(text))
    for name in {match.group() for match in _NAMED.finditer(text)}:
        value = _lanes_of_constant(unit, name)
        by_wave, by_32 = by_wave or value == "wave", by_32 or value == "group"
    if by_wave and by_32:
        raise RewriteRefusedError("one function counts lanes both with 32 and with the wave size")
    return "wave" if by_wave else "group"


def _lanes_of_constant(unit: CudaUnit, name: bytes) -> Lanes:
    values = set(re.findall(_VALUE % (re.escape(name), re.escape(name)), blanked(unit.data)))
    if values == {b"32"}:
        return "group"
    if values and values <= {b"warpSize", b"32", b"64"}:
        return "wave"  # the value depends on the backend or the target
    raise RewriteRefusedError(f"the value of {name.decode()} is not in this file")


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


def first_host_read(unit: CudaUnit, name: str) -> int | None:
    """The first line that reads the name outside device functions, not counting definitions; None if none does."""
    code = blanked(unit.data)
    escaped_name = re.escape(name.encode())
    definition = re.compile(rb"#[ \t]*define[ \t]+" + escaped_name + rb"\b|\b" + escaped_name + rb"\s*=[^=]")
    defined_at = {match.start() + match.group().rindex(name.encode()) for match in definition.finditer(code)}
    bodies = [body for function in unit.nodes("function_definition") if (body := _device_body(unit, function))]
    for match in re.finditer(rb"\b" + escaped_name + rb"\b", code):
        inside = any(body.start_byte <= match.start() < body.end_byte for body in bodies)
        if match.start() not in defined_at and not inside and not _is_definition_test(code, match.start()):
            return unit.text.line_of(match.start())
    return None


def _device_body(unit: CudaUnit, function: Node) -> Node | None:
    body = function.child_by_field_name("body")
    head = unit.data[function.start_byte : function.start_byte if body is None else body.start_byte]
    return body if _DEVICE.search(head) and not _HOST.search(head) else None


def _is_definition_test(code: bytes, offset: int) -> bool:
    """Whether the name is in `#ifdef`, `#ifndef` or `#undef`, which do not read its value."""
    line = code[code.rfind(b"\n", 0, offset) + 1 : offset]
    return re.match(rb"[ \t]*#[ \t]*(?:ifdef|ifndef|undef)\b", line) is not None
