"""The ssim kernels that the AMD gate compiles."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.ssim.triton import rocm3d_ssim_forward_kernel, rocm3d_ssim_gradient_kernel

_SIZE = {"height": "i32", "width": "i32"}
_FORWARD = {**dict.fromkeys(("image", "target", "partial", "derivatives"), "*fp32"), **_SIZE}
_GRADIENT = {**dict.fromkeys(("image", "target", "derivatives", "result"), "*fp32"), **_SIZE}

KERNELS = [
    GateKernel("ssim", rocm3d_ssim_forward_kernel, _FORWARD, {"KEEP": True, "MARGIN": 0}),
    GateKernel("ssim", rocm3d_ssim_forward_kernel, _FORWARD, {"KEEP": False, "MARGIN": 5}, quick=False),
    GateKernel("ssim", rocm3d_ssim_gradient_kernel, _GRADIENT),
]
