"""Slots: each runs one job at a time, on a GPU or on the CPU."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.jobs.gpus import MASKS, ROCR, called, free_vram, mask, total_vram
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.jobs.specification import Job
    from rocm3d.workspace.topology import GpuNode

# Folders in which every user may create a lock file; the first writable one is used.
_LOCKS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108  (opened without following links, and never read)


@dataclass(frozen=True)
class Slot:
    """`env` is set and `unset` removed for jobs on this slot; `lock` keeps other runs off the GPU."""

    name: str
    gpu: GpuNode | None = None
    env: tuple[tuple[str, str], ...] = ()
    unset: tuple[str, ...] = ()
    lock: str = ""
    root: Path = Path("/")

    def takes(self, job: Job) -> bool:
        """Whether the GPU has enough free VRAM now; True if the driver does not report it."""
        if self.gpu is None or not job.free_vram:
            return True
        free = free_vram(self.gpu, self.root)
        return free is None or free >= job.free_vram


def on_gpus(gpus: Sequence[GpuNode], each: int, root: Path = Path("/"), locks: Path | None = None) -> list[Slot]:
    """`each` slots per GPU, interleaved, so that every GPU gets a job before one gets a second."""
    folder = locks or next(place for place in _LOCKS if os.access(place, os.W_OK))
    return [
        Slot(
            name=called(gpu) + (f"/{number + 1}" if each > 1 else ""),
            gpu=gpu,
            env=((ROCR, mask(gpu)),),
            unset=tuple(name for name in MASKS if name != ROCR),
            lock=str(folder / f"rocm3d-gpu-{_identity(gpu)}-{number}.lock"),
            root=root,
        )
        for number in range(each)
        for gpu in gpus
    ]


def _identity(gpu: GpuNode) -> str:
    """Part of the lock's file name: the same for every process on this machine."""
    return hashlib.sha256(called(gpu).encode()).hexdigest()[:16]


def on_processor(number: int | None) -> list[Slot]:
    """Slots on the CPU; by default one per available core."""
    return [Slot(f"cpu-{place + 1}") for place in range(number or len(os.sched_getaffinity(0)))]


def refuse_too_large(jobs: Iterable[Job], slots: Iterable[Slot]) -> None:
    """Raises UserError for a job that needs more VRAM than any GPU has: it would wait forever."""
    sizes = [total_vram(slot.gpu, slot.root) for slot in slots if slot.gpu is not None]
    if not sizes or None in sizes:
        return
    most = max(size for size in sizes if size is not None)
    for job in jobs:
        if job.free_vram > most:
            asked, there = (f"{size / 2**30:.1f} GiB" for size in (job.free_vram, most))
            raise UserError(
                f"job {job.id} needs {asked} of free VRAM; the largest GPU has {there}",
                hint="lower free-vram, or select larger GPUs",
            )
