"""Whether a run took place where the plan means it to: on the planned GPU, with torch's ROCm build."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord
    from rocm3d.model.target import Gpu
    from rocm3d.model.verdict import Outcome


def elsewhere(run: RunRecord, gpu: Gpu) -> tuple[Outcome, str] | None:
    """What to say where it was not; None where it was. A run on the CPU is a fallback that no plan means."""
    held = run.manifest
    if not held.torch:
        return "not_run", "torch was not seen in it"
    if not held.rocm and held.cuda and held.gpu:
        return "not_run", f"it ran on {held.gpu} with CUDA {held.cuda}, which shows nothing for {gpu.gfx}"
    if not held.gpu:
        return "failed", f"fallback: torch {held.torch} used no GPU, all of it ran on the CPU"
    if held.gfx != gpu.gfx:
        return "not_run", f"it ran on {held.gfx or 'a target that is not known'}, the plan is for {gpu.gfx}"
    return None


def place(run: RunRecord) -> str:
    """Where it ran, in words."""
    held = run.manifest
    commit = f", commit {held.commit[:12]}" if held.commit else ", no commit is known"
    return f"{held.gpu} ({held.gfx}), HIP {held.rocm}, torch {held.torch}{commit}"
