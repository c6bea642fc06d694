"""Runs a workload to its end or its limit, and records what it did. However it ends, there is a record that says so."""

from __future__ import annotations

import json
import re
import signal
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from rocm3d.model.evidence import Missing
from rocm3d.model.run import Memory, RunRecord, Status
from rocm3d.record import redact, told
from rocm3d.record.attendant import Attendant
from rocm3d.record.caches import cold_caches
from rocm3d.record.manifest import manifest
from rocm3d.record.produced import Folders, sealed
from rocm3d.record.startup import reported, with_hook
from rocm3d.workspace.process import follow
from rocm3d.workspace.scratch import kept_folder
from rocm3d.workspace.sources import source_digest

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge

Ending: TypeAlias = int | Literal["timed_out", "interrupted"]

OUTPUT = "output.txt"
_TAIL = 64 * 1024
_NO_MEMORY = re.compile(r"OutOfMemoryError|out of memory|MemoryError|hipErrorOutOfMemory", re.IGNORECASE)


@dataclass(frozen=True)
class Workload:
    """What to run, for how long, and where its results will lie."""

    command: tuple[str, ...]
    name: str
    folder: Path
    seconds: float
    outputs: tuple[Path, ...] = ()
    profile: bool = True
    repository: Path | None = None  # left out: its folder
    written: frozenset[str] = frozenset()  # paths of the repository that earlier runs wrote: no code of its own

    @property
    def root(self) -> Path:
        """The repository that it belongs to."""
        return (self.repository or self.folder).resolve()


def record_run(workload: Workload, into: Path, knowledge: Knowledge, terminal: IO[bytes] | None = None) -> RunRecord:
    """`into` is an empty folder of ours; what the program prints is kept there, and goes to `terminal` as it comes."""
    before, cold = Folders(workload.outputs or (workload.folder,), into), cold_caches(knowledge)
    sources = source_digest(workload.root, workload.written)
    began, started = time.monotonic(), datetime.now(timezone.utc)
    with kept_folder() as scratch, closing(Attendant(into / OUTPUT, terminal, cold)) as attendant:
        report = scratch / "report.jsonl"
        asked = {"watch": watched(knowledge), "profile": workload.profile}
        env = with_hook(report, ROCM3D_RUN=json.dumps(asked))
        ended = _followed(workload, attendant, env)
        seconds = time.monotonic() - began
        lines = [line for line in reported(report) if isinstance(line.get("kind"), str)]
    status, reason = how_it_ended(ended, _tail(into / OUTPUT), workload.seconds)
    files, unread = sealed(before.changed(), workload.folder.resolve())
    gpu = {name: told.most(lines, key) for name, key in (("gpu_allocated", "allocated"), ("gpu_reserved", "reserved"))}
    return RunRecord(
        name=workload.name,
        command=redact.arguments(workload.command),
        started=started,
        seconds=round(seconds, 3),
        limit=workload.seconds,
        status=status,
        exit_code=ended if isinstance(ended, int) and ended >= 0 else None,
        reason=reason,
        manifest=manifest(lines, workload.root, knowledge).model_copy(
            update={"folder": _below(workload), "sources": sources}
        ),
        memory=Memory(
            **gpu,
            host=attendant.memory.peak,
            gpu_points=told.gpu_memory(lines, started.timestamp()),
            host_points=attendant.memory.points(began),
        ),
        cold_caches=cold,
        files=tuple(files),
        missing=(*_missing(lines, before, workload), *unread),
        **_inside(lines, workload.root, knowledge),
    )


def _below(workload: Workload) -> str:
    folder = workload.folder.resolve().relative_to(workload.root).as_posix()
    return "" if folder == "." else folder


def _inside(lines: list[dict[str, Any]], root: Path, knowledge: Knowledge) -> dict[str, Any]:
    """What only the hooks could see."""
    times, ways = told.kernels(lines, knowledge.backends.values()), told.attention(lines)
    return {
        "modules": told.modules(lines),
        "fallbacks": told.fallbacks(lines, root),
        "libraries": told.libraries(lines),
        "attention": ways,
        "kernels": times,
        "profiled_seconds": round(sum(line["seconds"] for line in lines if line["kind"] == "kernels"), 3),
        "backends": told.by_operation(times, ways),
        "steps": told.steps(lines),
    }


def watched(knowledge: Knowledge) -> list[str]:
    """Modules whose presence or absence decides what runs: torch, and whatever has a record."""
    return sorted({"torch", "triton", *(name for item in knowledge.packages.values() for name in item.imports)})


def _followed(workload: Workload, attendant: Attendant, env: dict[str, str]) -> Ending:
    try:
        code = follow(workload.command, attendant, cwd=workload.folder, env=env, seconds=workload.seconds)
    except KeyboardInterrupt:
        return "interrupted"
    return "timed_out" if code is None else code


def how_it_ended(ended: Ending, tail: str, limit: float) -> tuple[Status, str]:
    """The status, and one line why where it did not finish. `ended` is the exit code, or what ended it before."""
    if ended == "interrupted":
        return "interrupted", "interrupted from the keyboard"
    if ended == "timed_out":
        return "timed_out", f"it was not done after {limit:g} s"
    if ended == 0:
        return "finished", ""
    if _NO_MEMORY.search(tail):
        return "out_of_memory", next(line for line in tail.splitlines() if _NO_MEMORY.search(line)).strip()[:200]
    if ended < 0:
        name = _signal(-ended)
        hint = "; the kernel does so when memory runs out" if name == "SIGKILL" else ""
        return "killed", f"ended by {name}{hint}"
    said = [line for line in tail.splitlines() if line.strip()]
    return "failed", f"exit code {ended}{': ' + said[-1].strip()[:200] if said else ''}"


def _signal(number: int) -> str:
    known = {item.value: item.name for item in signal.Signals}
    return known.get(number, f"signal {number}")  # most real-time signals have no name


def _missing(lines: list[dict[str, Any]], before: Folders, workload: Workload) -> list[Missing]:
    kinds = {line["kind"] for line in lines}
    found = []
    if "process" not in kinds:
        found.append(
            Missing(link="what happened inside", reason="no Python was started, or one that ignores PYTHONPATH")
        )
    elif "kernels" not in kinds:
        used = any("gpu" in line for line in lines if line["kind"] == "status")
        why = "no GPU was used by torch" if not used else "it ended before a window could be read"
        found.append(Missing(link="kernels", reason=why if workload.profile else "--no-profile"))
    if before.too_many:
        found.append(
            Missing(link="files", reason="too many files to compare: name the folder of the results with --out")
        )
    return found


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return file.read().decode("utf-8", "replace")
