"""Wraps noexcept functions that are registered as operators in a lambda on ROCm. Parameters: guard."""

from __future__ import annotations

from rocm3d.apply.guarded_lines import Replacement, guard_lines
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import registered_noexcept_functions


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Replaces each pointer to such a function by a lambda."""
    unit = CudaUnit("", data)
    replacements = []
    for node in registered_noexcept_functions(unit):
        name = unit.slice(node).removeprefix("&").strip()
        replacements.append(Replacement.of(node, f"[] {{ return {name}(); }}"))
    return guard_lines(data, replacements, parameters)
