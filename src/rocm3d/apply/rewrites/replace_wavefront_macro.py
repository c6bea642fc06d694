"""Defines clang's wavefront-size macro by target, where the compiler no longer does.

Parameters: macros, wave64 (macros of targets with 64 lanes), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import find_definition, insert_guarded
from rocm3d.apply.lanes import first_host_read
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.guards import PreprocessorContext


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts one block above the first use, so that values, conditions and macros need no edit."""
    unit, code, conditionals = CudaUnit("", data), blanked(data), PreprocessorContext.of(data)
    uses: dict[str, int] = {}
    for name in list_parameter(parameters, "macros"):
        if find_definition(code, name):
            continue
        offsets = (match.start() for match in re.finditer(rb"\b" + name.encode() + rb"\b", code))
        first_use = next(
            (
                offset
                for offset in offsets
                if conditionals.can_compile_for_rocm(offset) and not conditionals.is_target_specific(offset)
            ),
            None,
        )
        if first_use is not None:
            uses[name] = first_use
            _refuse_host_reads(unit, name)
    if not uses:
        return data
    wave64 = " || ".join(f"defined({macro})" for macro in list_parameter(parameters, "wave64"))
    text = "".join(
        f"#if !defined({name})\n#if {wave64}\n#define {name} 64\n#else\n#define {name} 32\n#endif\n#endif\n"
        for name in uses
    )
    return insert_guarded(data, text, parameters, min(uses.values()))


def _refuse_host_reads(unit: CudaUnit, name: str) -> None:
    """The host pass does not know the target, so neither the macro nor a constant set from it may be read there."""
    constants = re.findall(rb"(?:define[ \t]+(\w+)[ \t]+|\b(\w+)\s*=\s*)" + name.encode() + rb"\b", blanked(unit.data))
    for constant in sorted({(defined or assigned).decode() for defined, assigned in constants}):
        line = first_host_read(unit, constant)
        if line is not None:
            raise RewriteRefusedError(f"{constant} is read outside device code, in line {line}")
    for function in unit.nodes("function_definition"):
        definition = unit.data[function.start_byte : function.end_byte]
        if re.search(rb"\b" + name.encode() + rb"\b", definition) and not re.search(
            rb"__(?:device|global)__", definition
        ):
            raise RewriteRefusedError(f"{name} is read in host code")
