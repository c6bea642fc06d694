"""Adds `__ldg` overloads for torch's half types on ROCm, as plain loads. Parameters: call, types, guard."""

from __future__ import annotations

from rocm3d.apply.guarded_lines import defined_once, insert_guarded
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import function_name


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts overloads above the first shared call, once per translation unit, unless the file defines its own."""
    unit, name = CudaUnit("", data), str(parameters["call"])
    has_own_overload = any(unit.slice(node).startswith(f"{name}(") for node in unit.nodes("function_declarator"))
    calls = (call for call in unit.nodes("call_expression") if function_name(unit, call) == name)
    first_call = next((call.start_byte for call in calls if unit.is_shared(call.start_byte)), None)
    if has_own_overload or first_call is None:
        return data
    overloads = "".join(
        f"__device__ inline {type_name} {name}(const {type_name}* ptr) {{ return *ptr; }}\n"
        for type_name in list_parameter(parameters, "types")
    )
    return insert_guarded(data, defined_once("ldg_half", overloads), parameters, first_call)
