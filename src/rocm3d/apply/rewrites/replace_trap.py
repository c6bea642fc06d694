"""Replaces calls of a device trap that HIP lacks by the compiler's builtin. Parameters: calls, instead, guard."""

from __future__ import annotations

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Replaces the name in each call that both builds see, unless the file defines a macro of that name."""
    unit = CudaUnit("", data)
    trap_names = set(list_parameter(parameters, "calls")) - _macro_names(unit)
    functions = [call.child_by_field_name("function") for call in unit.nodes("call_expression")]
    replacements = [
        Replacement.of(function, str(parameters["instead"]))
        for function in functions
        if function is not None
        and unit.slice(function).removeprefix("::") in trap_names
        and unit.is_shared(function.start_byte)
    ]
    return guard_lines(data, replacements, parameters)


def _macro_names(unit: CudaUnit) -> set[str]:
    defines = (node.child_by_field_name("name") for node in unit.nodes("preproc_def", "preproc_function_def"))
    return {unit.slice(name) for name in defines if name is not None}
