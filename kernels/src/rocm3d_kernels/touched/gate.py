"""The kernel that counts touched pixels, for the AMD gate."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.projection.launch import COARSE, FINE
from rocm3d_kernels.touched.triton import rocm3d_touched_kernel

_ARGUMENTS = {
    "records": "*fp32",
    **dict.fromkeys(("rows", "offsets", "counts"), "*i32"),
    **dict.fromkeys(("width", "height", "tiles_x", "tiles_image"), "i32"),
}

KERNELS = [
    GateKernel("touched", rocm3d_touched_kernel, _ARGUMENTS, {"CAP": LARGEST_ALPHA, "TILE": side}, quick=side == COARSE)
    for side in (COARSE, FINE)
]
