"""AITER, AMD's library of tuned kernels, where it is installed."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.problem import Problem
from rocm3d_kernels.attention.tiers import library

TRIED_FIRST = True
LACKS = ("a bias tensor", "softcap", "keys with gaps")


def refuses(problem: Problem) -> str:
    """What it cannot do; empty for nothing."""
    return library.refuses("aiter", problem, LACKS)


def run(problem: Problem) -> torch.Tensor:
    """The result, in the shape of q; its way back needs the sums that it returns only when asked."""
    return library.call("aiter", problem, return_lse=problem.trains)
