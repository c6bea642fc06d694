"""Places where one job can run at a time: so many on each GPU, or so many on the processor."""

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

# Where every user may put a lock; the first that is there.
_LOCKS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108  (opened without following links, and never read)


@dataclass(frozen=True)
class Slot:
    """One place. `env` is set for what runs there, `unset` taken away; `lock` keeps other runs off the GPU."""

    name: str
    gpu: GpuNode | None = None
    env: tuple[tuple[str, str], ...] = ()
    unset: tuple[str, ...] = ()
    lock: str = ""
    root: Path = Path("/")

    def takes(self, job: Job) -> bool:
        """Whether there is room for it now; where nobody says how much is free, there is."""
        if self.gpu is None or not job.free_vram:
            return True
        free = free_vram(self.gpu, self.root)
        return free is None or free >= job.free_vram


def on_gpus(gpus: Sequence[GpuNode], each: int, root: Path = Path("/"), locks: Path | None = None) -> list[Slot]:
    """`each` places on every GPU, in turns, so that all GPUs are busy before one has two jobs."""
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
    """The same for every process on this machine, and a plain file name."""
    return hashlib.sha256(called(gpu).encode()).hexdigest()[:16]


def on_processor(number: int | None) -> list[Slot]:
    """So many places, or as many as there are processors for us."""
    return [Slot(f"cpu-{place + 1}") for place in range(number or len(os.sched_getaffinity(0)))]


def refuse_too_large(jobs: Iterable[Job], slots: Iterable[Slot]) -> None:
    """One line for a job that would wait for ever."""
    sizes = [total_vram(slot.gpu, slot.root) for slot in slots if slot.gpu is not None]
    if not sizes or None in sizes:
        return
    most = max(size for size in sizes if size is not None)
    for job in jobs:
        if job.free_vram > most:
            asked, there = (f"{size / 2**30:.1f} GiB" for size in (job.free_vram, most))
            raise UserError(
                f"job {job.id} waits for {asked} of free VRAM; the largest GPU has {there}",
                hint="lower free-vram, or name larger GPUs",
            )
