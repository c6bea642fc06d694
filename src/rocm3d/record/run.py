"""Runs a workload until it ends or reaches its time limit, and always returns a record of the run."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.evidence import MissingLink, SealedFile
from rocm3d.model.run import PeakMemory, RunRecord, RunStatus
from rocm3d.record import hook_events
from rocm3d.record.hook_events import hook_environment, read_events
from rocm3d.record.manifest import cold_caches, manifest
from rocm3d.record.monitor import WorkloadMonitor
from rocm3d.record.redact import Redactor
from rocm3d.workspace.process import guarded_scratch_folder, run_watched
from rocm3d.workspace.tree import file_digest, source_digest

Ending: TypeAlias = int | Literal["timed_out", "interrupted"]

OUTPUT_FILE = "output.txt"
_TAIL = 64 * 1024
_OUT_OF_MEMORY = re.compile(r"OutOfMemoryError|out of memory|MemoryError|hipErrorOutOfMemory", re.IGNORECASE)
# Folders without results.
IGNORED_FOLDERS = {
    ".git",
    ".rocm3d",
    ".venv",
    "venv",
    "__pycache__",
    "node_modules",
    ".cache",
    ".mypy_cache",
    ".pytest_cache",
}
MAX_FILES = 50_000

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class RunRequest:
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
        return (self.repository or self.folder).resolve()


def record_run(
    workload: RunRequest,
    into: Path,
    knowledge: Knowledge,
    terminal: IO[bytes] | None = None,
    redactor: Redactor | None = None,
) -> RunRecord:
    """Run the workload. `into` is an empty folder for its output, which also goes to `terminal` while it runs.

    The output file is without secrets. The record is as it was measured: redact it before it is stored or shown.
    """
    redactor = redactor or Redactor.for_run(workload.command, os.environ)
    before, cold = FolderState(workload.outputs or (workload.folder,), into), cold_caches(knowledge)
    sources = source_digest(workload.root, workload.written)
    began, started = time.monotonic(), datetime.now(timezone.utc)
    with (
        guarded_scratch_folder() as scratch,
        closing(WorkloadMonitor(into / OUTPUT_FILE, terminal, cold, redactor)) as monitor,
    ):
        report = scratch / "report.jsonl"
        settings = {"watch": watched_modules(knowledge), "profile": workload.profile}
        env = hook_environment(report, ROCM3D_RUN=json.dumps(settings))
        ended = _run_to_end(workload, monitor, env)
        seconds = time.monotonic() - began
        events = [line for line in read_events(report) if isinstance(line.get("kind"), str)]
    status, reason = classify_ending(ended, _tail(into / OUTPUT_FILE), workload.seconds)
    files, unread = seal_files(before.changed(), workload.folder.resolve())
    gpu = {
        name: hook_events.peak(events, key)
        for name, key in (("gpu_allocated", "allocated"), ("gpu_reserved", "reserved"))
    }
    return RunRecord(
        name=workload.name,
        command=workload.command,
        started=started,
        seconds=round(seconds, 3),
        limit=workload.seconds,
        status=status,
        exit_code=ended if isinstance(ended, int) and ended >= 0 else None,
        reason=reason,
        manifest=manifest(events, workload.root, knowledge).model_copy(
            update={"folder": _relative_folder(workload), "sources": sources}
        ),
        memory=PeakMemory(
            **gpu,
            host=monitor.memory.peak,
            gpu_points=hook_events.gpu_memory_points(events, started.timestamp()),
            host_points=monitor.memory.points(began),
        ),
        cold_caches=cold,
        output_left_out=monitor.output.left_out,
        files=tuple(files),
        missing=(*_missing_links(events, before, workload), *_survivors(monitor), *unread),
        **_hook_fields(events, workload.root, knowledge),
    )


def _relative_folder(workload: RunRequest) -> str:
    folder = workload.folder.resolve().relative_to(workload.root).as_posix()
    return "" if folder == "." else folder


def _hook_fields(events: list[dict[str, Any]], root: Path, knowledge: Knowledge) -> dict[str, Any]:
    """Fields of the record that come from the hooks inside the process."""
    times, attention = (
        hook_events.kernel_times(events, knowledge.backends.values()),
        hook_events.attention_calls(events),
    )
    return {
        "modules": hook_events.loaded_modules(events),
        "fallbacks": hook_events.import_fallbacks(events, root),
        "libraries": hook_events.loaded_libraries(events),
        "attention": attention,
        "kernels": times,
        "profiled_seconds": round(sum(line["seconds"] for line in events if line["kind"] == "kernels"), 3),
        "backends": hook_events.backends_by_operation(times, attention),
        "steps": hook_events.loop_steps(events),
    }


def watched_modules(knowledge: Knowledge) -> list[str]:
    """Modules whose imports are reported: torch, triton and every package of the knowledge base."""
    return sorted({"torch", "triton", *(name for package in knowledge.packages.values() for name in package.imports)})


def _run_to_end(workload: RunRequest, monitor: WorkloadMonitor, env: dict[str, str]) -> Ending:
    try:
        code = run_watched(workload.command, monitor, cwd=workload.folder, env=env, seconds=workload.seconds)
    except KeyboardInterrupt:
        return "interrupted"
    return "timed_out" if code is None else code


def classify_ending(ended: Ending, tail: str, limit: float) -> tuple[RunStatus, str]:
    """The status, and a one-line reason if it did not finish. A negative exit code is a signal number."""
    if ended == "interrupted":
        return "interrupted", "interrupted from the keyboard"
    if ended == "timed_out":
        return "timed_out", f"stopped at the {limit:g} s limit"
    if ended == 0:
        return "finished", ""
    if _OUT_OF_MEMORY.search(tail):
        return "out_of_memory", next(line for line in tail.splitlines() if _OUT_OF_MEMORY.search(line)).strip()[:200]
    if ended < 0:
        name = _signal_name(-ended)
        hint = "; possibly out of memory (kernel OOM killer)" if name == "SIGKILL" else ""
        return "killed", f"ended by {name}{hint}"
    output_lines = [line for line in tail.splitlines() if line.strip()]
    return "failed", f"exit code {ended}{': ' + output_lines[-1].strip()[:200] if output_lines else ''}"


def _signal_name(number: int) -> str:
    known = {member.value: member.name for member in signal.Signals}
    return known.get(number, f"signal {number}")  # most real-time signals have no name


def _missing_links(events: list[dict[str, Any]], before: FolderState, workload: RunRequest) -> list[MissingLink]:
    kinds = {line["kind"] for line in events}
    links = []
    if "process" not in kinds:
        links.append(
            MissingLink(link="what happened inside", reason="no Python process was started, or it ignores PYTHONPATH")
        )
    elif "kernels" not in kinds:
        used = any("gpu" in line for line in events if line["kind"] == "status")
        reason = "torch did not use a GPU" if not used else "the program ended before the profiler had a result"
        links.append(MissingLink(link="kernels", reason=reason if workload.profile else "--no-profile"))
    if before.too_many:
        links.append(
            MissingLink(link="files", reason="too many files to compare: pass the folder of the results with --out")
        )
    return links


def _survivors(monitor: WorkloadMonitor) -> list[MissingLink]:
    return [MissingLink(link="the end of all its processes", reason=monitor.survivors)] if monitor.survivors else []


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return file.read().decode("utf-8", "replace")


class FolderState:
    """File stamps of some folders before a run. With more than MOST files nothing is compared: `too_many` is set."""

    def __init__(self, folders: tuple[Path, ...], excluded: Path) -> None:
        self.folders, self.excluded, self.too_many = folders, excluded.resolve(), False
        self.before = dict(self._stamps())

    def changed(self) -> list[Path]:
        """Regular files that are new or changed since construction."""
        now = {} if self.too_many else dict(self._stamps())
        # The second scan may have set too_many.
        return [] if self.too_many else sorted(path for path, stamp in now.items() if self.before.get(path) != stamp)

    def _stamps(self) -> Iterator[tuple[Path, Stamp]]:
        count = 0
        for folder in self.folders:
            for parent, subfolders, names in os.walk(folder):
                subfolders[:] = [
                    name
                    for name in subfolders
                    if name not in IGNORED_FOLDERS and Path(parent, name).resolve() != self.excluded
                ]
                for name in names:
                    count += 1
                    if count > MAX_FILES:
                        self.too_many = True
                        return
                    path = Path(parent, name)
                    try:
                        status = path.lstat()
                    except OSError:
                        continue  # deleted meanwhile
                    if stat.S_ISREG(status.st_mode):
                        yield path, (status.st_mtime_ns, status.st_size, status.st_ino)


def seal_files(paths: Iterable[Path], root: Path) -> tuple[list[SealedFile], list[MissingLink]]:
    """Files with their digests, and those that could not be read. Paths below `root` are relative to it."""
    sealed_files, unreadable = [], []
    for path in paths:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        try:
            sealed_files.append(SealedFile(path=name, sha256=file_digest(path)))
        except OSError as error:
            unreadable.append(MissingLink(link=name, reason=error.strerror or str(error)))
    return sealed_files, unreadable
