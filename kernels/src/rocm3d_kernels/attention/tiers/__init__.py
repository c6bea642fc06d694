"""Tiers: the backends of attention, fastest first. Each is a module with `run`, a support check and a trial flag.

ROCM3D_ATTENTION forces one tier; ROCM3D_KERNELS=reference means eager, =triton our kernels.
"""

from __future__ import annotations

import os

import torch

from rocm3d_kernels.attention.problem import Problem
from rocm3d_kernels.attention.proof import tried
from rocm3d_kernels.attention.tiers import aiter, eager, flash_attn, sdpa, triton  # noqa: A004
from rocm3d_kernels.dispatch import OVERRIDE, Dispatch, record_dispatch

TIERS = {"aiter": aiter, "flash_attn": flash_attn, "sdpa": sdpa, "triton": triton, "eager": eager}
CHOICE = "ROCM3D_ATTENTION"
_NAMES = {"reference": "eager", "triton": "triton"}


def solve(problem: Problem) -> torch.Tensor:
    """Runs the first tier that supports the problem; the error names the reason of every tier if none does."""
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
                said = why or "; ".join([*refused, f"{name} is next"] if refused else [f"{name} is the first tier"])
                record_dispatch(Dispatch(op="attention", implementation=name, reason=said, device=str(problem.q.device)))
            return found
        refused.append(f"{name}: {reason}")
    raise NotImplementedError(f"attention: no tier supports these inputs: {'; '.join(refused)}")


def _asked() -> tuple[str, str]:
    """The tier that the environment forces and the setting that does it; empty strings if none."""
    choice = os.environ.get(CHOICE, "")
    if choice:
        if choice not in TIERS:
            raise ValueError(f"{CHOICE} is {choice!r}; choose one of {', '.join(TIERS)}")
        return choice, f"{CHOICE}={choice}"
    override = os.environ.get(OVERRIDE, "")
    if override and override not in _NAMES:
        raise ValueError(f"{OVERRIDE} is {override!r}; choose reference or triton")
    return _NAMES.get(override, ""), f"{OVERRIDE}={override}" if override else ""
