"""Adds `__ldg` overloads for torch's half types on ROCm, as plain loads. Parameters: call, types, guard."""

from __future__ import annotations

from rocm3d.apply.guarded_lines import insert_guarded, offset_after_includes
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.lane_masks import function_name

_ONCE_MACRO = "ROCM3D_HAS_LDG_HALF"


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
    text = f"#if defined(__HIP__) && !defined({_ONCE_MACRO})\n#define {_ONCE_MACRO}\n{overloads}#endif\n"
    return insert_guarded(data, offset_after_includes(data, first_call), text.encode(), parameters)
