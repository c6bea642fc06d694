"""The knn kernels that the AMD gate compiles."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.knn.triton import rocm3d_curve_kernel, rocm3d_search_kernel

_BOXES = ("lower", "upper", "group_lower", "group_upper")
_SEARCH = {
    "sorted_points": "*fp32",
    "order": "*i64",
    "finite_count": "*i64",
    **dict.fromkeys((*_BOXES, "result"), "*fp32"),
    **dict.fromkeys(("count", "size", "boxes", "groups"), "i32"),
}

KERNELS = [
    GateKernel("knn", rocm3d_curve_kernel, {"points": "*fp32", "knots": "*fp32", "keys": "*i64", "count": "i32"}),
    GateKernel("knn", rocm3d_search_kernel, _SEARCH),
]
