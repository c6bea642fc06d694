"""AITER, AMD's library of tuned kernels, where it is installed."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.problem import AttentionProblem
from rocm3d_kernels.attention.tiers import library

NEEDS_TRIAL = True
UNSUPPORTED = ("a bias tensor", "softcap", "keys with gaps")


def unsupported_reason(problem: AttentionProblem) -> str:
    """The features that AITER lacks for this problem; empty if none."""
    return library.unsupported_reason("aiter", problem, UNSUPPORTED)


def run(problem: AttentionProblem) -> torch.Tensor:
    """The output in the shape of q. AITER's backward needs lse, which it returns only on request."""
    return library.call("aiter", problem, return_lse=problem.needs_grad)
