"""The real flash-attn, of either backend, where it is installed and works."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.problem import Problem
from rocm3d_kernels.attention.tiers import library

TRIED_FIRST = True
LACKS = ("a bias tensor", "keys with gaps")


def refuses(problem: Problem) -> str:
    """What it cannot do; empty for nothing."""
    return library.refuses("flash_attn", problem, LACKS)


def run(problem: Problem) -> torch.Tensor:
    """The result, in the shape of q."""
    return library.call("flash_attn", problem, **({"softcap": problem.softcap} if problem.softcap > 0 else {}))
