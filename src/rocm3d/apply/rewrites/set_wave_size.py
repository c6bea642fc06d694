"""Sets a constant for the wave size by target, which the device pass knows.

Parameters: wave64 (macros of targets with 64 lanes), narrow, wide (the two wave sizes), guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rocm3d.apply.guarded_lines import guard_condition
from rocm3d.apply.lanes import first_host_read
from rocm3d.apply.rewrite import EditNotNeededError, RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.model.text import Text
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.guards import PreprocessorContext, assume_rocm, fold_cpp

_NAME = rb"\b(k?_?(?:\w+_)?(?:warp|wave|wavefront)_?size)\b"
_DEFINED = re.compile(
    rb"^[ \t]*(?:#[ \t]*define[ \t]+" + _NAME + rb"[ \t]+\(?(\d+)\)?[ \t]*"
    rb"|(?:(?:static|inline|constexpr|const)\s+)+(?:unsigned(?:\s+int)?|int|size_t|uint32_t|auto)\s+"
    + _NAME
    + rb"\s*=\s*(\d+)\s*;[ \t]*)\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_LITERAL = re.compile(rb"[%/&]\s*(?:32|31|0x1[fF])[uU]?\b|>>\s*5\b|\b32\s*-\s*1\b")
_WHOLE_WAVE = re.compile(rb"\b__(?:ballot|ballot64|any|all)\s*\(|\brocm3d_wave_peers\b|\b__activemask\b")
_GROUPS_OF_32 = re.compile(
    rb"\bROCM3D_(?:BALLOT|ACTIVEMASK|MATCH_ANY|SHFL|ANY|ALL)|\b__shfl\w*\s*\([^;]*,\s*32\s*\)|& *32u?\b"
)


@dataclass(frozen=True)
class _Constant:
    """One definition: its line [start, end), and the offset of its number."""

    name: str
    number: str
    start: int
    end: int
    number_offset: int


def edit(data: bytes, parameters: Parameters) -> bytes:
    """A 32 in shared code with whole-wave votes, or a 64 in a branch for ROCm, becomes a choice by target."""
    unit, newline = CudaUnit("", data), Text(data).newline
    constants = list(_constants(unit, parameters))
    if not _DEFINED.search(blanked(data)) and _LITERAL.search(blanked(data)):
        raise EditNotNeededError("left at 32: correct as long as votes and shuffles stay within 32 lanes")
    out, position = [], 0
    for constant in constants:
        host_line = first_host_read(unit, constant.name)
        if host_line is not None:
            raise RewriteRefusedError(f"{constant.name} is read outside device code, in line {host_line}")
        condition = _condition(parameters, with_guard=unit.is_shared(constant.number_offset))
        before = data[constant.start : constant.number_offset]
        after = data[constant.number_offset + len(constant.number) : constant.end]
        wide, narrow = (before + str(parameters[key]).encode() + after for key in ("wide", "narrow"))
        out += [data[position : constant.start], b"#if ", condition, newline, wide]
        out += [b"#else", newline, narrow, b"#endif", newline]
        position = constant.end
    return b"".join([*out, data[position:]])


def _condition(parameters: Parameters, *, with_guard: bool) -> bytes:
    targets = b" || ".join(f"defined({macro})".encode() for macro in list_parameter(parameters, "wave64"))
    if not with_guard:
        return targets
    rocm = guard_condition(parameters)
    rocm_condition = b"(" + rocm + b")" if b"||" in rocm else rocm
    return rocm_condition + b" && " + (b"(" + targets + b")" if b"||" in targets else targets)


def _constants(unit: CudaUnit, parameters: Parameters) -> Iterator[_Constant]:
    conditionals = PreprocessorContext.of(unit.data)
    for match in _DEFINED.finditer(blanked(unit.data)):
        group = 1 if match.group(1) else 3
        name, number = match.group(group).decode(), match.group(group + 1).decode()
        number_offset = match.start(group + 1)
        if conditionals.is_target_specific(number_offset) or not conditionals.can_compile_for_rocm(number_offset):
            continue
        end = unit.data.find(b"\n", match.end() - 1) + 1
        if not end:
            raise RewriteRefusedError("the last line has no newline")
        constant = _Constant(name, number, match.start(), end, number_offset)
        if number == str(parameters["wide"]) and not unit.is_shared(number_offset):
            yield constant
        elif number == str(parameters["narrow"]) and unit.is_shared(number_offset):
            _refuse_groups(unit)
            yield constant


def _refuse_groups(unit: CudaUnit) -> None:
    """Only a vote over the whole wave needs the hardware's wave size; groups of 32 in the same file rule it out."""
    on_rocm = blanked(fold_cpp(unit.data, assume_rocm))
    if not _WHOLE_WAVE.search(on_rocm):
        raise EditNotNeededError("left at 32: no vote in this file uses the whole wave")
    if _GROUPS_OF_32.search(on_rocm):
        raise EditNotNeededError("left at 32: votes or shuffles in this file use groups of 32")
