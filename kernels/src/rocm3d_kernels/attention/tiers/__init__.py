"""Tiers: the backends of attention, fastest first. Each is a module with `run`, a support check and a trial flag.

ROCM3D_ATTENTION forces one tier; ROCM3D_KERNELS=reference means eager, =triton our kernels.
"""

from __future__ import annotations

import os

import torch

from rocm3d_kernels.attention.problem import AttentionProblem
from rocm3d_kernels.attention.tiers import aiter, eager, flash_attn, sdpa, triton  # noqa: A004
from rocm3d_kernels.attention.trial import trial_failure
from rocm3d_kernels.dispatch import OVERRIDE, Dispatch, record_dispatch

TIERS = {"aiter": aiter, "flash_attn": flash_attn, "sdpa": sdpa, "triton": triton, "eager": eager}
TIER_VARIABLE = "ROCM3D_ATTENTION"
_TIER_OF_IMPLEMENTATION = {"reference": "eager", "triton": "triton"}


def run_first_supported(problem: AttentionProblem) -> torch.Tensor:
    """Runs the first tier that supports the problem; the error names the reason of every tier if none does."""
    forced_tier, forced_by = _forced_tier()
    skipped: list[str] = []
    for name in (forced_tier,) if forced_tier else TIERS:
        tier = TIERS[name]
        reason = tier.unsupported_reason(problem)
        if not reason and tier.NEEDS_TRIAL:
            reason = trial_failure(name, tier.run, problem)
        if not reason:
            output: torch.Tensor = tier.run(problem)
            if not torch.compiler.is_compiling():
                dispatch_reason = forced_by or "; ".join(
                    [*skipped, f"{name} is next"] if skipped else [f"{name} is the first tier"]
                )
                record_dispatch(
                    Dispatch(op="attention", implementation=name, reason=dispatch_reason, device=str(problem.q.device))
                )
            return output
        skipped.append(f"{name}: {reason}")
    raise NotImplementedError(f"attention: no tier supports these inputs: {'; '.join(skipped)}")


def _forced_tier() -> tuple[str, str]:
    """The tier that the environment forces and the setting that does it; empty strings if none."""
    choice = os.environ.get(TIER_VARIABLE, "")
    if choice:
        if choice not in TIERS:
            raise ValueError(f"{TIER_VARIABLE} is {choice!r}; choose one of {', '.join(TIERS)}")
        return choice, f"{TIER_VARIABLE}={choice}"
    override = os.environ.get(OVERRIDE, "")
    if override and override not in _TIER_OF_IMPLEMENTATION:
        raise ValueError(f"{OVERRIDE} is {override!r}; choose reference or triton")
    return _TIER_OF_IMPLEMENTATION.get(override, ""), f"{OVERRIDE}={override}" if override else ""
