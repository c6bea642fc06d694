"""The original flash-attn with its CK or Triton backend, if it is installed and works."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.problem import AttentionProblem
from rocm3d_kernels.attention.tiers import library

NEEDS_TRIAL = True
UNSUPPORTED = ("a bias tensor", "keys with gaps")


def unsupported_reason(problem: AttentionProblem) -> str:
    """The features that flash-attn lacks for this problem; empty if none."""
    return library.unsupported_reason("flash_attn", problem, UNSUPPORTED)


def run(problem: AttentionProblem) -> torch.Tensor:
    """The output in the shape of q."""
    return library.call("flash_attn", problem, **({"softcap": problem.softcap} if problem.softcap > 0 else {}))
