"""Plain PyTorch, 256 rows at a time: slow, supports everything except a bias and dropout."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.operator import REFERENCE, packed_attention
from rocm3d_kernels.attention.problem import AttentionProblem

NEEDS_TRIAL = False


def unsupported_reason(problem: AttentionProblem) -> str:
    """The unsupported dtype or features; empty if none."""
    name = str(problem.q.dtype).removeprefix("torch.")
    if name not in REFERENCE:
        return f"dtype {name}"
    return " and ".join(one for one in problem.features() if one in ("a bias tensor", "dropout"))


def run(problem: AttentionProblem) -> torch.Tensor:
    """The output in the shape of q."""
    return packed_attention(problem.packed(), force_reference=True).reshape(*problem.q.shape[:-1], problem.v.shape[-1])
