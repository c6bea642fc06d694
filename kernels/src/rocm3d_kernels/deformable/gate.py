"""The deformable attention kernels that the AMD gate compiles."""

from __future__ import annotations

from rocm3d_kernels.deformable.triton import (
    rocm3d_deformable_backward,
    rocm3d_deformable_collect,
    rocm3d_deformable_forward,
)
from rocm3d_kernels.gate_kernel import GateKernel

# The sizes of GroundingDINO and Deformable-DETR; and odd sizes with more levels than are unrolled.
_USUAL = {"LEVELS": 4, "POINTS": 4, "CHANNELS": 32, "POINT_BLOCK": 4, "CHANNEL_BLOCK": 32}
_ODD = {"LEVELS": 5, "POINTS": 3, "CHANNELS": 24, "POINT_BLOCK": 4, "CHANNEL_BLOCK": 32}
_INTEGERS = dict.fromkeys(("queries", "places", "heads"), "i32")
_LEVELS = dict.fromkeys(("shapes", "starts"), "*i64")


def _forward(kind: str) -> dict[str, str]:
    return {**dict.fromkeys(("value", "locations", "weights", "output"), kind), **_LEVELS, **_INTEGERS}


def _backward(kind: str) -> dict[str, str]:
    read = ("value", "locations", "weights", "grad_output", "grad_locations", "grad_weights")
    written = {"grad_value": "*fp32", "keys": "*i64", "factors": "*fp32"}
    return {**dict.fromkeys(read, kind), **_LEVELS, **written, **_INTEGERS}


def _declare_usual(kind: str, dtype: str, *, quick: bool) -> list[GateKernel]:
    return [
        GateKernel("deformable", rocm3d_deformable_forward, _forward(kind), _USUAL, dtype, quick),
        GateKernel("deformable", rocm3d_deformable_backward, _backward(kind), {**_USUAL, **_ATOMIC}, dtype, quick),
    ]


_ATOMIC, _DETERMINISTIC = {"ADD": True, "keys": None, "factors": None}, {"ADD": False, "grad_value": None}
_COLLECT = {
    **dict.fromkeys(("factors", "grad_output", "grad_value"), "*fp32"),
    **dict.fromkeys(("order", "begins"), "*i64"),
}
_ROWS = {"SHARE": 64, "CHANNELS": 32, "CHANNEL_BLOCK": 32}

KERNELS = [
    *_declare_usual("*fp32", "float32", quick=True),
    *_declare_usual("*fp16", "float16", quick=False),
    *_declare_usual("*bf16", "bfloat16", quick=False),
    GateKernel("deformable", rocm3d_deformable_forward, _forward("*fp32"), _ODD, quick=False),
    GateKernel("deformable", rocm3d_deformable_backward, _backward("*fp32"), {**_ODD, **_ATOMIC}, quick=False),
    GateKernel("deformable", rocm3d_deformable_backward, _backward("*fp32"), {**_USUAL, **_DETERMINISTIC}, quick=False),
    GateKernel("deformable", rocm3d_deformable_collect, {**_COLLECT, "targets": "i32"}, _ROWS),
]
