"""ROCm shims: CUDA device functions that a file defines itself for ROCm builds only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rocm3d.syntax.conditional_chains import PreprocessorContext

if TYPE_CHECKING:
    from rocm3d.syntax.cuda import CudaUnit

_GUARD = re.compile(rb"\b(?:USE_ROCM|__HIP\w*|TORCH_HIP_VERSION)\b")
# All detectors read one file in turn. Weak, so that a unit and its tree are freed after the scan of the file.
_cached_names: WeakKeyDictionary[CudaUnit, frozenset[str]] = WeakKeyDictionary()


def rocm_shim_names(unit: CudaUnit) -> frozenset[str]:
    """Macro names, and function names with the type of the first parameter: `__syncwarp`, `__ldg(at::Half`."""
    if unit not in _cached_names:
        _cached_names[unit] = _find_shim_names(unit)
    return _cached_names[unit]


def _find_shim_names(unit: CudaUnit) -> frozenset[str]:
    if not _GUARD.search(unit.data):
        return frozenset()
    context = PreprocessorContext.of(unit.data)
    names = set()
    for node in unit.nodes("preproc_def", "preproc_function_def", "function_declarator"):
        if unit.is_shared(node.start_byte) or not context.can_compile_for_rocm(node.start_byte):
            continue
        name = node.child_by_field_name("declarator" if node.type == "function_declarator" else "name")
        if name is None:
            continue
        parameters = node.child_by_field_name("parameters") if node.type == "function_declarator" else None
        first_type = (
            parameters.named_children[0].child_by_field_name("type")
            if parameters is not None and parameters.named_children
            else None
        )
        names.add(unit.slice(name) + ("" if first_type is None else f"({unit.slice(first_type)}"))
    return frozenset(names)
