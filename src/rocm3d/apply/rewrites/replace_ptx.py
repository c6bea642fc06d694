"""Replaces single PTX instructions of known meaning by C++ on ROCm; other assembly stays. Parameters: guard.

Lane ids and lane masks are those of a group of 32, unless the function counts lanes with warpSize.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.device_text import helper_sources
from rocm3d.apply.guarded_lines import Replacement, offset_after_includes, guard_lines, insert_guarded
from rocm3d.apply.lane_groups import lanes_of_function
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.model.recipe import Parameters

_LANE = "(__lane_id() & 31u)"
_MASKS = {
    "eq": f"1u << {_LANE}",
    "lt": f"(1u << {_LANE}) - 1u",
    "le": f"(2u << {_LANE}) - 1u",
    "gt": f"~((2u << {_LANE}) - 1u)",
    "ge": f"~((1u << {_LANE}) - 1u)",
}
# Per instruction: the C++ expression, and the helper functions that it calls.
_PLAIN = {
    "bfind.u32": ("31 - __clz({0})", ()),
    "clz.b32": ("__clz({0})", ()),
    "popc.b32": ("__popc({0})", ()),
    "brev.b32": ("__brev({0})", ()),
    "bfe.u32": ("rocm3d_bfe_u32({0}, {1}, {2})", ("bfe_u32",)),
    "bfe.s32": ("rocm3d_bfe_s32({0}, {1}, {2})", ("bfe_s32",)),
    "prmt.b32": ("rocm3d_prmt({0}, {1}, {2})", ("prmt",)),
}
_INSTRUCTION = re.compile(r"\s*([a-z]\w*(?:\.\w+)*)\s+(%\d+)\s*((?:,\s*(?:%%?\w+|\d+|0x[0-9a-fA-F]+)\s*)+);?\s*")
_REGISTER = re.compile(r"%%?(laneid|lanemask_(eq|lt|le|gt|ge))")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits each asm statement that both builds see, as a guarded copy of its lines."""
    unit = CudaUnit("", data)
    found: list[Replacement] = []
    needs: list[str] = []
    unknown = ""
    ported = False
    for node in unit.nodes("gnu_asm_expression"):
        if not unit.is_shared(node.start_byte):
            ported = True
            continue
        made = _translated(unit, node)
        if made is None:
            unknown = unknown or _code(unit, node).strip()
            continue
        text, texts = made
        found.append(Replacement(node.start_byte, node.end_byte, text.encode()))
        needs += texts
    if not found and unknown and not ported:
        raise RewriteRefusedError(f"no counterpart on ROCm is known for {unknown}")
    changed = guard_lines(data, found, parameters)
    if not needs:
        return changed
    at = offset_after_includes(changed, min(item.start for item in found))
    return insert_guarded(changed, at, helper_sources(needs).encode(), parameters)


def _translated(unit: CudaUnit, node: Node) -> tuple[str, tuple[str, ...]] | None:
    """`result = ...` for an asm statement, and the helper functions it calls; None for an unknown instruction."""
    match = _INSTRUCTION.fullmatch(_code(unit, node))
    outputs, inputs = _operands(unit, node, "output_operands"), _operands(unit, node, "input_operands")
    if match is None or match.group(2) != "%0" or len(outputs) != 1 or outputs[0][0] != "=r":
        return None
    name, given = match.group(1), [part.strip() for part in match.group(3).split(",")[1:]]
    result = outputs[0][1]
    special = _REGISTER.fullmatch(given[0])
    if name in ("mov.u32", "mov.b32", "mov.s32") and len(given) == 1 and special is not None:
        return f"{result} = {_special(unit, node, special)}", ()
    values = [_value(word, [text for _, text in (*outputs, *inputs)]) for word in given]
    text, texts = _PLAIN.get(name, ("", ()))
    if len(values) != text.count("{") or not text or None in values:
        return None
    return f"{result} = {text.format(*values)}", texts


def _special(unit: CudaUnit, node: Node, register: re.Match[str]) -> str:
    wave = lanes_of_function(unit, node) == "wave"
    if register.group(1) == "laneid":
        return "__lane_id()" if wave else _LANE[1:-1]
    if wave:
        raise RewriteRefusedError(f"%{register.group(1)} has 32 bits, but the function counts lanes of the whole wave")
    return _MASKS[register.group(2)]


def _value(word: str, operands: list[str]) -> str | None:
    if not word.startswith("%"):
        return word
    number = word.lstrip("%")
    return operands[int(number)] if number.isdecimal() and int(number) < len(operands) else None


def _operands(unit: CudaUnit, node: Node, field: str) -> list[tuple[str, str]]:
    """Constraint and expression of each operand."""
    listed = node.child_by_field_name(field)
    found = []
    for item in [] if listed is None else listed.named_children:
        constraint, value = item.child_by_field_name("constraint"), item.child_by_field_name("value")
        if constraint is not None and value is not None:
            found.append((unit.slice(constraint).strip('"'), unit.slice(value)))
    return found


def _code(unit: CudaUnit, node: Node) -> str:
    """The assembly text: adjacent strings joined, line ends as spaces."""
    text = node.child_by_field_name("assembly_code")
    parts = [] if text is None else re.findall(r'"((?:\\.|[^"\\])*)"', unit.slice(text), re.DOTALL)
    return re.sub(r"\\[nt]", " ", "".join(parts))


rewrite = Rewrite(__name__, edit)
