"""Runs a workload until it ends or reaches its time limit, and always returns a record of the run."""

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

from rocm3d.model.evidence import MissingLink
from rocm3d.model.run import PeakMemory, RunRecord, RunStatus
from rocm3d.record import redact, told
from rocm3d.record.attendant import Attendant
from rocm3d.record.caches import cold_caches
from rocm3d.record.manifest import manifest
from rocm3d.record.produced import Folders, sealed
from rocm3d.record.startup import reported, with_hook
from rocm3d.workspace.process import run_watched
from rocm3d.workspace.scratch import guarded_scratch_folder
from rocm3d.workspace.sources import source_digest

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge

Ending: TypeAlias = int | Literal["timed_out", "interrupted"]

OUTPUT = "output.txt"
_TAIL = 64 * 1024
_NO_MEMORY = re.compile(r"OutOfMemoryError|out of memory|MemoryError|hipErrorOutOfMemory", re.IGNORECASE)


@dataclass(frozen=True)
class Workload:
    """What to run, for how long (`seconds`), and the folders in which it writes its results."""

    command: tuple[str, ...]
    name: str
    folder: Path
    seconds: float
    outputs: tuple[Path, ...] = ()
    profile: bool = True
    repository: Path | None = None  # default: `folder`
    written: frozenset[str] = frozenset()  # paths that earlier runs wrote, not part of the repository's sources

    @property
    def root(self) -> Path:
        """Root of the repository."""
        return (self.repository or self.folder).resolve()


def record_run(workload: Workload, into: Path, knowledge: Knowledge, terminal: IO[bytes] | None = None) -> RunRecord:
    """Run the workload. `into` is an empty folder for its output, which also goes to `terminal` while it runs."""
    before, cold = Folders(workload.outputs or (workload.folder,), into), cold_caches(knowledge)
    sources = source_digest(workload.root, workload.written)
    began, started = time.monotonic(), datetime.now(timezone.utc)
    with guarded_scratch_folder() as scratch, closing(Attendant(into / OUTPUT, terminal, cold)) as attendant:
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
        memory=PeakMemory(
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
    """Fields of the record that come from the hooks inside the process."""
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
    """Modules whose imports are reported: torch, triton and every package of the knowledge base."""
    return sorted({"torch", "triton", *(name for item in knowledge.packages.values() for name in item.imports)})


def _followed(workload: Workload, attendant: Attendant, env: dict[str, str]) -> Ending:
    try:
        code = run_watched(workload.command, attendant, cwd=workload.folder, env=env, seconds=workload.seconds)
    except KeyboardInterrupt:
        return "interrupted"
    return "timed_out" if code is None else code


def how_it_ended(ended: Ending, tail: str, limit: float) -> tuple[RunStatus, str]:
    """The status, and a one-line reason if it did not finish. A negative exit code is a signal number."""
    if ended == "interrupted":
        return "interrupted", "interrupted from the keyboard"
    if ended == "timed_out":
        return "timed_out", f"stopped at the {limit:g} s limit"
    if ended == 0:
        return "finished", ""
    if _NO_MEMORY.search(tail):
        return "out_of_memory", next(line for line in tail.splitlines() if _NO_MEMORY.search(line)).strip()[:200]
    if ended < 0:
        name = _signal(-ended)
        hint = "; possibly out of memory (kernel OOM killer)" if name == "SIGKILL" else ""
        return "killed", f"ended by {name}{hint}"
    said = [line for line in tail.splitlines() if line.strip()]
    return "failed", f"exit code {ended}{': ' + said[-1].strip()[:200] if said else ''}"


def _signal(number: int) -> str:
    known = {item.value: item.name for item in signal.Signals}
    return known.get(number, f"signal {number}")  # most real-time signals have no name


def _missing(lines: list[dict[str, Any]], before: Folders, workload: Workload) -> list[MissingLink]:
    kinds = {line["kind"] for line in lines}
    found = []
    if "process" not in kinds:
        found.append(
            MissingLink(link="what happened inside", reason="no Python process was started, or it ignores PYTHONPATH")
        )
    elif "kernels" not in kinds:
        used = any("gpu" in line for line in lines if line["kind"] == "status")
        why = "torch did not use a GPU" if not used else "the program ended before the profiler had a result"
        found.append(MissingLink(link="kernels", reason=why if workload.profile else "--no-profile"))
    if before.too_many:
        found.append(
            MissingLink(link="files", reason="too many files to compare: pass the folder of the results with --out")
        )
    return found


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return file.read().decode("utf-8", "replace")
