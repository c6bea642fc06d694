"""Whether a run used the planned environment: the planned GPU and a ROCm build of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord
    from rocm3d.model.target import Gpu
    from rocm3d.model.verdict import Outcome


def elsewhere(run: RunRecord, gpu: Gpu) -> tuple[Outcome, str] | None:
    """Outcome and reason if it did not; None if it did. A run on the CPU is an unplanned fallback and fails."""
    held = run.manifest
    if not held.torch:
        return "not_run", "the run did not import torch"
    if not held.rocm and held.cuda and held.gpu:
        return "not_run", f"ran on {held.gpu} with CUDA {held.cuda}; the plan is for {gpu.gfx}"
    if not held.gpu:
        return "failed", f"fallback: torch {held.torch} used no GPU, everything ran on the CPU"
    if held.gfx != gpu.gfx:
        return "not_run", f"ran on {held.gfx or 'an unknown target'}; the plan is for {gpu.gfx}"
    return None


def place(run: RunRecord) -> str:
    """GPU, target, HIP, torch and commit as one text."""
    held = run.manifest
    commit = f", commit {held.commit[:12]}" if held.commit else ", commit unknown"
    return f"{held.gpu} ({held.gfx}), HIP {held.rocm}, torch {held.torch}{commit}"
