"""Launches the attention kernels."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton

from rocm3d_kernels.attention.problem import Problem, Spans
from rocm3d_kernels.attention.triton import (
    PIECE,
    rocm3d_attention_delta_kernel,
    rocm3d_attention_forward_kernel,
    rocm3d_attention_keys_kernel,
    rocm3d_attention_queries_kernel,
)
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned

FARTHEST = 2**22


def aligned(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself if its rows begin at multiples of 8 elements, else a copy with padded rows."""
    fits = tensor.stride(-1) == 1 and all(step % PIECE == 0 for step in tensor.stride()[:-1])
    # The kernels use 32-bit offsets between the rows of a tile.
    if fits and tensor.data_ptr() % 16 == 0 and tensor.stride(0) < FARTHEST:
        return tensor
    room = -(-tensor.shape[-1] // PIECE) * PIECE
    copy = torch.zeros(*tensor.shape[:-1], room, dtype=tensor.dtype, device=tensor.device)
    copy[..., : tensor.shape[-1]] = tensor
    return copy[..., : tensor.shape[-1]]


def forward(problem: Problem, spans: Spans) -> tuple[torch.Tensor, torch.Tensor]:
    """The output o [T, H, D] and lse [H, T], the base-2 logarithm of each row's sum."""
    q, k, v = (aligned(one) for one in (problem.q, problem.k, problem.v))
    out = _fresh(q, v.shape[2])
    kept = torch.full((q.shape[1], q.shape[0]), torch.inf, device=q.device)
    parameters = tuned("attention", "attention_forward_kernel", q.device)
    constants = _constants(problem)
    tiles = -(-spans.max_q // _rows(parameters, problem, "ROWS"))
    programs = tiles * q.shape[1] * spans.q_starts.numel()
    if programs and q.shape[0]:
        launch(
            rocm3d_attention_forward_kernel, (_programs(programs), 1, 1),
            (
                q, k, v, out, kept, *spans[:4], problem.slopes, *_steps(q), *_steps(k), *_steps(v), *_steps(out),
                q.shape[0], q.shape[1], tiles, problem.left, problem.right, _slopes_step(problem), *_scales(problem),
            ),
            **constants, **parameters,
        )  # fmt: skip
    return out, kept


def backward(
    problem: Problem, spans: Spans, out: torch.Tensor, kept: torch.Tensor, given: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of q, k and v."""
    q, k, v, out, given = (aligned(one) for one in (problem.q, problem.k, problem.v, out, given))
    by_q, by_k, by_v = _fresh(q, q.shape[2]), _fresh(k, k.shape[2]), _fresh(v, v.shape[2])
    sequences, heads, total = spans.q_starts.numel(), q.shape[1], q.shape[0]
    if not (total and k.shape[0] and sequences and spans.max_q and spans.max_k):
        return by_q, by_k, by_v
    constants = _constants(problem)
    deltas = torch.empty_like(kept)
    parameters = tuned("attention", "attention_delta_kernel", q.device)
    launch(
        rocm3d_attention_delta_kernel, (_programs(-(-total // parameters["ROWS"]) * heads), 1, 1),
        (out, given, deltas, *_steps(out), *_steps(given), total, heads),
        KIND=constants["KIND"], DV=constants["DV"], WIDTH=constants["WIDTH"], **parameters,
    )  # fmt: skip
    steps = (*_steps(q), *_steps(k), *_steps(v), *_steps(given))
    rest = (problem.left, problem.right, _slopes_step(problem), *_scales(problem), problem.scale)
    where = (*spans[:4], problem.slopes)
    parameters = tuned("attention", "attention_keys_kernel", q.device)
    tiles = -(-spans.max_k // _rows(parameters, problem, "COLUMNS"))
    launch(
        rocm3d_attention_keys_kernel, (_programs(tiles * k.shape[1] * sequences), 1, 1),
        (q, k, v, given, kept, deltas, by_k, by_v, *where, *steps, *_steps(by_k), *_steps(by_v), total, k.shape[1],
         tiles, *rest),
        **constants, **parameters,
    )  # fmt: skip
    parameters = tuned("attention", "attention_queries_kernel", q.device)
    tiles = -(-spans.max_q // _rows(parameters, problem, "ROWS"))
    launch(
        rocm3d_attention_queries_kernel, (_programs(tiles * heads * sequences), 1, 1),
        (q, k, v, given, kept, deltas, by_q, *where, *steps, *_steps(by_q), total, heads, tiles, *rest),
        **constants, **parameters,
    )  # fmt: skip
    return by_q, by_k, by_v


def _fresh(like: torch.Tensor, size: int) -> torch.Tensor:
    """Zeros with aligned rows; tokens outside all sequences stay zero."""
    room = -(-size // PIECE) * PIECE
    return torch.zeros(*like.shape[:2], room, dtype=like.dtype, device=like.device)[..., :size]


def _steps(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor.stride(0) // PIECE, tensor.stride(1) // PIECE


def _scales(problem: Problem) -> tuple[float, float]:
    """Factors of q k^T and of the softcapped score, for scores in base 2."""
    if problem.softcap > 0:
        return 2 * math.log2(math.e) * problem.scale / problem.softcap, problem.softcap * math.log2(math.e)
    return problem.scale * math.log2(math.e), 1.0


def _slopes_step(problem: Problem) -> int:
    slopes = problem.slopes
    return slopes.stride(0) if slopes is not None and slopes.ndim == 2 else 0


def _constants(problem: Problem) -> dict[str, Any]:
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


def _rows(parameters: dict[str, Any], problem: Problem, name: str) -> int:
    widest = max(problem.q.shape[2], problem.v.shape[2])
    small = 256 if problem.q.dtype == torch.float32 or widest > 128 else 64 if widest <= 64 else 128
    return int(parameters[f"{name}_{small}"])


def _programs(number: int) -> int:
    if number >= 2**31:
        raise ValueError(f"attention: the launch needs {number} programs; a GPU grid is limited to 2**31 - 1")
    return number
