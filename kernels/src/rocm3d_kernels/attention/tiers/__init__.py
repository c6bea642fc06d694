"""Ways to compute attention, the best first: each is a module with `refuses`, `run` and whether it is tried first.

ROCM3D_ATTENTION insists on one; ROCM3D_KERNELS=reference means eager, =triton our kernels.
"""

from __future__ import annotations

import os

import torch

from rocm3d_kernels.attention.problem import Problem
from rocm3d_kernels.attention.proof import tried
from rocm3d_kernels.attention.tiers import aiter, eager, flash_attn, sdpa, triton  # noqa: A004
from rocm3d_kernels.dispatch import OVERRIDE, Dispatch, remember

TIERS = {"aiter": aiter, "flash_attn": flash_attn, "sdpa": sdpa, "triton": triton, "eager": eager}
CHOICE = "ROCM3D_ATTENTION"
_NAMES = {"reference": "eager", "triton": "triton"}


def solve(problem: Problem) -> torch.Tensor:
    """By the first tier that takes the problem; if none does, one line says why."""
    asked, why = _asked()
    refused: list[str] = []
    for name in (asked,) if asked else TIERS:
        tier = TIERS[name]
        reason = tier.refuses(problem)
        if not reason and tier.TRIED_FIRST:
            reason = tried(name, tier.run, problem)
        if not reason:
            found: torch.Tensor = tier.run(problem)
            if not torch.compiler.is_compiling():
                said = why or "; ".join([*refused, f"{name} is next"] if refused else [f"{name} is first"])
                remember(Dispatch(op="attention", implementation=name, reason=said, device=str(problem.q.device)))
            return found
        refused.append(f"{name}: {reason}")
    raise NotImplementedError(f"attention: nothing here takes this: {'; '.join(refused)}")


def _asked() -> tuple[str, str]:
    """A tier that the environment insists on, and which variable does."""
    choice = os.environ.get(CHOICE, "")
    if choice:
        if choice not in TIERS:
            raise ValueError(f"{CHOICE} is {choice!r}; it may be {', '.join(TIERS)}")
        return choice, f"{CHOICE}={choice}"
    override = os.environ.get(OVERRIDE, "")
    if override and override not in _NAMES:
        raise ValueError(f"{OVERRIDE} is {override!r}; it may be reference or triton")
    return _NAMES.get(override, ""), f"{OVERRIDE}={override}" if override else ""
