"""The original flash-attn with its CK or Triton backend, if it is installed and works."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.problem import Problem
from rocm3d_kernels.attention.tiers import library

TRIED_FIRST = True
LACKS = ("a bias tensor", "keys with gaps")


def refuses(problem: Problem) -> str:
    """The features that flash-attn lacks for this problem; empty if none."""
    return library.refuses("flash_attn", problem, LACKS)


def run(problem: Problem) -> torch.Tensor:
    """The output in the shape of q."""
    return library.call("flash_attn", problem, **({"softcap": problem.softcap} if problem.softcap > 0 else {}))
