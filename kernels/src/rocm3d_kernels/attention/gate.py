"""Attention kernels that the AMD gate compiles: usual head sizes and the largest."""

from __future__ import annotations

from typing import Any

from rocm3d_kernels.attention.triton import (
    rocm3d_attention_delta_kernel,
    rocm3d_attention_forward_kernel,
    rocm3d_attention_keys_kernel,
    rocm3d_attention_queries_kernel,
)
from rocm3d_kernels.gate_kernel import GateKernel

_TYPES = {"float16": "*fp16", "bfloat16": "*bf16", "float32": "*fp32"}
_SEQUENCE_BOUNDS = dict.fromkeys(("q_starts", "q_ends", "k_starts", "k_ends"), "*i32") | {"slopes": "*fp32"}
_STRIDES = ("q_token", "q_head", "k_token", "k_head", "v_token", "v_head")
_INTEGERS = ("total", "heads", "tiles", "left", "right", "slopes_step")
_ROW_STATISTICS = {"lse": "*fp32", "delta": "*fp32"}


def _arguments(dtype: str, tensors: tuple[str, ...], strides: tuple[str, ...], *, backward: bool) -> dict[str, str]:
    scales = ("scale", "cap", "factor") if backward else ("scale", "cap")
    numbers = dict.fromkeys((*_STRIDES, *strides, *_INTEGERS), "i32") | dict.fromkeys(scales, "fp32")
    return (
        dict.fromkeys(tensors, _TYPES[dtype])
        | _SEQUENCE_BOUNDS
        | numbers
        | (_ROW_STATISTICS if backward else {"lse": "*fp32"})
    )


def _declare(dtype: str, head_size: int, *, quick: bool = False, spills: int = 0, **traits: Any) -> list[GateKernel]:
    """Forward, dk/dv and dq kernels for one head size."""
    plain = {"LEFT": False, "RIGHT": False, "TOP": False, "ALIBI": False, "SOFTCAP": False, "GROUP": 1}
    sizes = {"KIND": dtype, "D": head_size, "DV": head_size, "DEPTH": head_size, "WIDTH": head_size}
    constants = plain | sizes | traits
    forward = _arguments(dtype, ("q", "k", "v", "o"), ("o_token", "o_head"), backward=False)
    inputs, gradient_strides = ("q", "k", "v", "do"), ("g_token", "g_head")
    keys = _arguments(
        dtype, (*inputs, "dk", "dv"), (*gradient_strides, "dk_token", "dk_head", "dv_token", "dv_head"), backward=True
    )
    queries = _arguments(dtype, (*inputs, "dq"), (*gradient_strides, "d_token", "d_head"), backward=True)
    return [
        GateKernel("attention", rocm3d_attention_forward_kernel, forward, constants, dtype, quick, spills),
        GateKernel("attention", rocm3d_attention_keys_kernel, keys, constants, dtype, quick, spills),
        GateKernel("attention", rocm3d_attention_queries_kernel, queries, constants, dtype, quick, spills),
    ]


_DELTA = {
    "o": "*fp16",
    "do": "*fp16",
    "delta": "*fp32",
    **dict.fromkeys(("o_token", "o_head", "g_token", "g_head", "total", "heads"), "i32"),
}

# RDNA3 holds every operand of a matrix instruction twice, so the largest heads do not fit into its registers.
KERNELS = [
    *_declare("float16", 128, quick=True, RIGHT=True),
    *_declare("float16", 64, RIGHT=True, GROUP=4),
    *_declare("float16", 16, spills=4),
    *_declare("bfloat16", 128),
    *_declare("bfloat16", 128, LEFT=True, RIGHT=True, ALIBI=True, SOFTCAP=True, spills=48),
    *_declare("float16", 256, RIGHT=True, spills=160),
    *_declare("float32", 64, RIGHT=True),
    *_declare("float32", 128, spills=192),
    GateKernel(
        "attention", rocm3d_attention_delta_kernel, _DELTA, {"KIND": "float16", "DV": 128, "WIDTH": 128}, "float16"
    ),
]
