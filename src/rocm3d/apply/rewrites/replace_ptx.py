"""Replaces single PTX instructions of known meaning by C++ on ROCm; other assembly stays. Parameters: guard.

Lane ids and lane masks are those of a group of 32, unless the function counts lanes with warpSize.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.apply.guarded_lines import Replacement, guard_lines, insert_helpers
from rocm3d.apply.lanes import lanes_of_function
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit

_LANE = "(__lane_id() & 31u)"
_MASKS = {
    "eq": f"1u << {_LANE}",
    "lt": f"(1u << {_LANE}) - 1u",
    "le": f"(2u << {_LANE}) - 1u",
    "gt": f"~((2u << {_LANE}) - 1u)",
    "ge": f"~((1u << {_LANE}) - 1u)",
}
# Per instruction: the C++ expression, and the helper functions that it calls.
_CPP_BY_INSTRUCTION = {
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
    replacements: list[Replacement] = []
    helper_names: list[str] = []
    unknown = ""
    has_guarded_asm = False
    for node in unit.nodes("gnu_asm_expression"):
        if not unit.is_shared(node.start_byte):
            has_guarded_asm = True
            continue
        translation = _translated(unit, node)
        if translation is None:
            unknown = unknown or _assembly(unit, node).strip()
            continue
        text, called_helpers = translation
        replacements.append(Replacement.of(node, text))
        helper_names += called_helpers
    if not replacements and unknown and not has_guarded_asm:
        raise RewriteRefusedError(f"no counterpart on ROCm is known for {unknown}")
    changed = guard_lines(data, replacements, parameters)
    return insert_helpers(changed, helper_names, parameters, replacements) if helper_names else changed


def _translated(unit: CudaUnit, node: Node) -> tuple[str, tuple[str, ...]] | None:
    """`result = ...` for an asm statement, and the helper functions it calls; None for an unknown instruction."""
    match = _INSTRUCTION.fullmatch(_assembly(unit, node))
    outputs, inputs = _operands(unit, node, "output_operands"), _operands(unit, node, "input_operands")
    if match is None or match.group(2) != "%0" or len(outputs) != 1 or outputs[0][0] != "=r":
        return None
    name, instruction_operands = match.group(1), [part.strip() for part in match.group(3).split(",")[1:]]
    result = outputs[0][1]
    register = _REGISTER.fullmatch(instruction_operands[0])
    if name in ("mov.u32", "mov.b32", "mov.s32") and len(instruction_operands) == 1 and register is not None:
        return f"{result} = {_register_value(unit, node, register)}", ()
    values = [_operand_text(operand, [text for _, text in (*outputs, *inputs)]) for operand in instruction_operands]
    text, called_helpers = _CPP_BY_INSTRUCTION.get(name, ("", ()))
    if len(values) != text.count("{") or not text or None in values:
        return None
    return f"{result} = {text.format(*values)}", called_helpers


def _register_value(unit: CudaUnit, node: Node, register: re.Match[str]) -> str:
    is_wave = lanes_of_function(unit, node) == "wave"
    if register.group(1) == "laneid":
        return "__lane_id()" if is_wave else _LANE[1:-1]
    if is_wave:
        raise RewriteRefusedError(f"%{register.group(1)} has 32 bits, but the function counts lanes of the whole wave")
    return _MASKS[register.group(2)]


def _operand_text(operand: str, operands: list[str]) -> str | None:
    if not operand.startswith("%"):
        return operand
    number = operand.lstrip("%")
    return operands[int(number)] if number.isdecimal() and int(number) < len(operands) else None


def _operands(unit: CudaUnit, node: Node, field: str) -> list[tuple[str, str]]:
    """Constraint and expression of each operand."""
    operand_list = node.child_by_field_name(field)
    operands = []
    for operand in [] if operand_list is None else operand_list.named_children:
        constraint, value = operand.child_by_field_name("constraint"), operand.child_by_field_name("value")
        if constraint is not None and value is not None:
            operands.append((unit.slice(constraint).strip('"'), unit.slice(value)))
    return operands


def _assembly(unit: CudaUnit, node: Node) -> str:
    """The assembly text: adjacent strings joined, line ends as spaces."""
    text = node.child_by_field_name("assembly_code")
    parts = [] if text is None else re.findall(r'"((?:\\.|[^"\\])*)"', unit.slice(text), re.DOTALL)
    return re.sub(r"\\[nt]", " ", "".join(parts))
