"""Slots: each runs one job at a time, on a GPU or on the CPU."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.jobs.gpus import MASKS, ROCR, free_vram, rocr_mask, stable_name, total_vram
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.jobs.specification import Job
    from rocm3d.workspace.topology import GpuNode

# Folders in which every user may create a lock file; the first writable one is used.
_LOCK_FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108  (opened without following links, and never read)


@dataclass(frozen=True)
class Slot:
    """`env` is set and `unset` removed for jobs on this slot; `lock` keeps other runs off the GPU."""

    name: str
    gpu: GpuNode | None = None
    env: tuple[tuple[str, str], ...] = ()
    unset: tuple[str, ...] = ()
    lock: str = ""
    root: Path = Path("/")

    def can_run(self, job: Job) -> bool:
        """Whether the GPU has enough free VRAM now; True if the driver does not report it."""
        if self.gpu is None or not job.free_vram:
            return True
        free = free_vram(self.gpu, self.root)
        return free is None or free >= job.free_vram


def gpu_slots(
    gpus: Sequence[GpuNode], per_gpu: int, root: Path = Path("/"), lock_folder: Path | None = None
) -> list[Slot]:
    """`each` slots per GPU, interleaved, so that every GPU gets a job before one gets a second."""
    folder = lock_folder or next(candidate for candidate in _LOCK_FOLDERS if os.access(candidate, os.W_OK))
    return [
        Slot(
            name=stable_name(gpu) + (f"/{number + 1}" if per_gpu > 1 else ""),
            gpu=gpu,
            env=((ROCR, rocr_mask(gpu)),),
            unset=tuple(name for name in MASKS if name != ROCR),
            lock=str(folder / f"rocm3d-gpu-{_lock_id(gpu)}-{number}.lock"),
            root=root,
        )
        for number in range(per_gpu)
        for gpu in gpus
    ]


def _lock_id(gpu: GpuNode) -> str:
    """Part of the lock's file name: the same for every process on this machine."""
    return hashlib.sha256(stable_name(gpu).encode()).hexdigest()[:16]


def cpu_slots(count: int | None) -> list[Slot]:
    """Slots on the CPU; by default one per available core."""
    return [Slot(f"cpu-{index + 1}") for index in range(count or len(os.sched_getaffinity(0)))]


def refuse_oversized_jobs(jobs: Iterable[Job], slots: Iterable[Slot]) -> None:
    """Raises UserError for a job that needs more VRAM than any GPU has: it would wait forever."""
    sizes = [total_vram(slot.gpu, slot.root) for slot in slots if slot.gpu is not None]
    if not sizes or None in sizes:
        return
    largest = max(size for size in sizes if size is not None)
    for job in jobs:
        if job.free_vram > largest:
            needed, available = (f"{size / 2**30:.1f} GiB" for size in (job.free_vram, largest))
            raise UserError(
                f"job {job.id} needs {needed} of free VRAM; the largest GPU has {available}",
                hint="lower free-vram, or select larger GPUs",
            )
