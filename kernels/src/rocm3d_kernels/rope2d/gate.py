"""The RoPE2D kernel that the AMD gate compiles."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.rope2d.triton import rocm3d_rope2d_kernel

_INTEGERS = ("count", "heads", "by_batch", "by_token", "by_head", "by_number", "at_batch", "at_token", "at_axis")
_OTHER_ARGUMENTS = {"positions": "*i64", "frequencies": "*fp32", **dict.fromkeys(_INTEGERS, "i32"), "sign": "fp32"}
# The sizes of DUSt3R, and an unusual layout: heads whose elements are not contiguous.
_USUAL = {"QUARTER": 16, "QUARTER_BLOCK": 16, "PLAIN": True, "HEADS": 4, "STEPS": 3}
_ODD = {"QUARTER": 5, "QUARTER_BLOCK": 8, "PLAIN": False, "WIDE": 1, "HEADS": 4, "STEPS": 1}

KERNELS = [
    GateKernel("rope2d", rocm3d_rope2d_kernel, {"tokens": "*fp32", **_OTHER_ARGUMENTS}, {**_USUAL, "WIDE": 4}),
    *(
        GateKernel(
            "rope2d",
            rocm3d_rope2d_kernel,
            {"tokens": kind, **_OTHER_ARGUMENTS},
            {**_USUAL, "WIDE": 8},
            dtype,
            quick=False,
        )
        for kind, dtype in (("*fp16", "float16"), ("*bf16", "bfloat16"))
    ),
    GateKernel("rope2d", rocm3d_rope2d_kernel, {"tokens": "*fp32", **_OTHER_ARGUMENTS}, _ODD, quick=False),
]
