"""Whether a run used the planned environment: the planned GPU and a ROCm build of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord
    from rocm3d.model.target import Gpu
    from rocm3d.model.verdict import Outcome


def environment_mismatch(run: RunRecord, gpu: Gpu) -> tuple[Outcome, str] | None:
    """Outcome and reason if it did not; None if it did. A run on the CPU is an unplanned fallback and fails."""
    manifest = run.manifest
    if not manifest.torch:
        return "not_run", "the run did not import torch"
    if not manifest.rocm and manifest.cuda and manifest.gpu:
        return "not_run", f"ran on {manifest.gpu} with CUDA {manifest.cuda}; the plan is for {gpu.gfx}"
    if not manifest.gpu:
        return "failed", f"fallback: torch {manifest.torch} used no GPU, everything ran on the CPU"
    if manifest.gfx != gpu.gfx:
        return "not_run", f"ran on {manifest.gfx or 'an unknown target'}; the plan is for {gpu.gfx}"
    return None


def describe_environment(run: RunRecord) -> str:
    """GPU, target, HIP, torch and commit as one text."""
    manifest = run.manifest
    commit = f", commit {manifest.commit[:12]}" if manifest.commit else ", commit unknown"
    return f"{manifest.gpu} ({manifest.gfx}), HIP {manifest.rocm}, torch {manifest.torch}{commit}"
