"""The Adam kernel that the AMD gate compiles."""

from __future__ import annotations

from rocm3d_kernels.adam.triton import rocm3d_adam_kernel
from rocm3d_kernels.gate_kernel import GateKernel

_ARGUMENTS = {
    **dict.fromkeys(("parameter", "gradient", "first", "second"), "*fp32"),
    "visible": "*i1",
    **dict.fromkeys(("count", "each"), "i32"),
    **dict.fromkeys(("lr", "beta1", "beta2", "rest1", "rest2", "eps"), "fp32"),
}

KERNELS = [
    GateKernel("adam", rocm3d_adam_kernel, _ARGUMENTS),
]
