"""ROCm shims: CUDA device functions that a file defines itself for ROCm builds only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rocm3d.syntax.chains import Surroundings

if TYPE_CHECKING:
    from rocm3d.syntax.cuda import CudaUnit

_GUARD = re.compile(rb"\b(?:USE_ROCM|__HIP\w*|TORCH_HIP_VERSION)\b")
# All detectors read one file in turn. Weak, so that a unit and its tree are freed after the scan of the file.
_known: WeakKeyDictionary[CudaUnit, frozenset[str]] = WeakKeyDictionary()


def made_for_rocm(unit: CudaUnit) -> frozenset[str]:
    """Macro names, and function names with the type of the first parameter: `__syncwarp`, `__ldg(at::Half`."""
    if unit not in _known:
        _known[unit] = _made_for_rocm(unit)
    return _known[unit]


def _made_for_rocm(unit: CudaUnit) -> frozenset[str]:
    if not _GUARD.search(unit.data):
        return frozenset()
    around = Surroundings.of(unit.data)
    found = set()
    for node in unit.nodes("preproc_def", "preproc_function_def", "function_declarator"):
        if unit.is_shared(node.start_byte) or not around.seen_by_rocm(node.start_byte):
            continue
        name = node.child_by_field_name("declarator" if node.type == "function_declarator" else "name")
        if name is None:
            continue
        taken = node.child_by_field_name("parameters") if node.type == "function_declarator" else None
        first = (
            taken.named_children[0].child_by_field_name("type") if taken is not None and taken.named_children else None
        )
        found.add(unit.slice(name) + ("" if first is None else f"({unit.slice(first)}"))
    return frozenset(found)
