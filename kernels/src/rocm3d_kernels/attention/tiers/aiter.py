"""AITER, AMD's library of tuned kernels, where it is installed."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.problem import Problem
from rocm3d_kernels.attention.tiers import library

TRIED_FIRST = True
LACKS = ("a bias tensor", "softcap", "keys with gaps")


def refuses(problem: Problem) -> str:
    """The features that AITER lacks for this problem; empty if none."""
    return library.refuses("aiter", problem, LACKS)


def run(problem: Problem) -> torch.Tensor:
    """The output in the shape of q. AITER's backward needs lse, which it returns only on request."""
    return library.call("aiter", problem, return_lse=problem.trains)
