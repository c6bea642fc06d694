"""Launches the attention kernels."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton

from rocm3d_kernels.attention.problem import AttentionProblem, Spans
from rocm3d_kernels.attention.triton import (
    UNIT,
    rocm3d_attention_delta_kernel,
    rocm3d_attention_forward_kernel,
    rocm3d_attention_keys_kernel,
    rocm3d_attention_queries_kernel,
)
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned

MAX_STRIDE = 2**22


def aligned(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself if its rows begin at multiples of 8 elements, else a copy with padded rows."""
    is_aligned = tensor.stride(-1) == 1 and all(step % UNIT == 0 for step in tensor.stride()[:-1])
    # The kernels use 32-bit offsets between the rows of a tile.
    if is_aligned and tensor.data_ptr() % 16 == 0 and tensor.stride(0) < MAX_STRIDE:
        return tensor
    padded_size = -(-tensor.shape[-1] // UNIT) * UNIT
    copy = torch.zeros(*tensor.shape[:-1], padded_size, dtype=tensor.dtype, device=tensor.device)
    copy[..., : tensor.shape[-1]] = tensor
    return copy[..., : tensor.shape[-1]]


def forward(problem: AttentionProblem, spans: Spans) -> tuple[torch.Tensor, torch.Tensor]:
    """The output o [T, H, D] and lse [H, T], the base-2 logarithm of each row's sum."""
    q, k, v = (aligned(one) for one in (problem.q, problem.k, problem.v))
    out = _aligned_zeros(q, v.shape[2])
    lse = torch.full((q.shape[1], q.shape[0]), torch.inf, device=q.device)
    parameters = tuned("attention", "attention_forward_kernel", q.device)
    constants = _constants(problem)
    tiles = -(-spans.max_q // _tile_size(parameters, problem, "ROWS"))
    program_count = tiles * q.shape[1] * spans.q_starts.numel()
    if program_count and q.shape[0]:
        launch(
            rocm3d_attention_forward_kernel, (_checked_program_count(program_count), 1, 1),
            (
                q, k, v, out, lse, *spans[:4], problem.slopes, *_strides(q), *_strides(k), *_strides(v), *_strides(out),
                q.shape[0], q.shape[1], tiles, problem.left, problem.right, _slope_stride(problem), *_scales(problem),
            ),
            **constants, **parameters,
        )  # fmt: skip
    return out, lse


def backward(
    problem: AttentionProblem, spans: Spans, out: torch.Tensor, lse: torch.Tensor, do: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of q, k and v."""
    q, k, v, out, do = (aligned(one) for one in (problem.q, problem.k, problem.v, out, do))
    dq, dk, dv = _aligned_zeros(q, q.shape[2]), _aligned_zeros(k, k.shape[2]), _aligned_zeros(v, v.shape[2])
    sequences, heads, total = spans.q_starts.numel(), q.shape[1], q.shape[0]
    if not (total and k.shape[0] and sequences and spans.max_q and spans.max_k):
        return dq, dk, dv
    constants = _constants(problem)
    delta = torch.empty_like(lse)
    parameters = tuned("attention", "attention_delta_kernel", q.device)
    launch(
        rocm3d_attention_delta_kernel, (_checked_program_count(-(-total // parameters["ROWS"]) * heads), 1, 1),
        (out, do, delta, *_strides(out), *_strides(do), total, heads),
        KIND=constants["KIND"], DV=constants["DV"], WIDTH=constants["WIDTH"], **parameters,
    )  # fmt: skip
    strides = (*_strides(q), *_strides(k), *_strides(v), *_strides(do))
    rest = (problem.left, problem.right, _slope_stride(problem), *_scales(problem), problem.scale)
    bounds = (*spans[:4], problem.slopes)
    parameters = tuned("attention", "attention_keys_kernel", q.device)
    tiles = -(-spans.max_k // _tile_size(parameters, problem, "COLUMNS"))
    launch(
        rocm3d_attention_keys_kernel, (_checked_program_count(tiles * k.shape[1] * sequences), 1, 1),
        (q, k, v, do, lse, delta, dk, dv, *bounds, *strides, *_strides(dk), *_strides(dv), total, k.shape[1],
         tiles, *rest),
        **constants, **parameters,
    )  # fmt: skip
    parameters = tuned("attention", "attention_queries_kernel", q.device)
    tiles = -(-spans.max_q // _tile_size(parameters, problem, "ROWS"))
    launch(
        rocm3d_attention_queries_kernel, (_checked_program_count(tiles * heads * sequences), 1, 1),
        (q, k, v, do, lse, delta, dq, *bounds, *strides, *_strides(dq), total, heads, tiles, *rest),
        **constants, **parameters,
    )  # fmt: skip
    return dq, dk, dv


def _aligned_zeros(like: torch.Tensor, size: int) -> torch.Tensor:
    """Zeros with aligned rows; tokens outside all sequences stay zero."""
    padded_size = -(-size // UNIT) * UNIT
    return torch.zeros(*like.shape[:2], padded_size, dtype=like.dtype, device=like.device)[..., :size]


def _strides(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor.stride(0) // UNIT, tensor.stride(1) // UNIT


def _scales(problem: AttentionProblem) -> tuple[float, float]:
    """Factors of q k^T and of the softcapped score, for scores in base 2."""
    if problem.softcap > 0:
        return 2 * math.log2(math.e) * problem.scale / problem.softcap, problem.softcap * math.log2(math.e)
    return problem.scale * math.log2(math.e), 1.0


def _slope_stride(problem: AttentionProblem) -> int:
    slopes = problem.slopes
    return slopes.stride(0) if slopes is not None and slopes.ndim == 2 else 0


def _constants(problem: AttentionProblem) -> dict[str, Any]:
    depth, width = problem.q.shape[2], problem.v.shape[2]
    return {
        "KIND": str(problem.q.dtype).removeprefix("torch."),
        "D": depth,
        "DV": width,
        "DEPTH": max(16, triton.next_power_of_2(depth)),
        "WIDTH": max(16, triton.next_power_of_2(width)),
        "GROUP": problem.group,
        "LEFT": problem.left >= 0,
        "RIGHT": problem.right >= 0,
        "TOP": problem.top,
        "ALIBI": problem.slopes is not None,
        "SOFTCAP": problem.softcap > 0,
    }


def _tile_size(parameters: dict[str, Any], problem: AttentionProblem, name: str) -> int:
    widest = max(problem.q.shape[2], problem.v.shape[2])
    size_class = 256 if problem.q.dtype == torch.float32 or widest > 128 else 64 if widest <= 64 else 128
    return int(parameters[f"{name}_{size_class}"])


def _checked_program_count(number: int) -> int:
    if number >= 2**31:
        raise ValueError(f"attention: the launch needs {number} programs; a GPU grid is limited to 2**31 - 1")
    return number
