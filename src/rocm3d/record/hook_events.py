"""Starts hooks in a workload's interpreter, reads their events, and aggregates them over all processes."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rocm3d.knowledge.base import backend_of_kernel
from rocm3d.model.backend import Backend
from rocm3d.model.run import AttentionBackend, ImportFallback, KernelTime, LoadedModule, MemoryPoint, Steps

Events = Iterable[Mapping[str, Any]]
UNKNOWN_BACKEND, TRITON_BACKEND = "not known by name", "Triton kernel of the program"
_TORCH_FILE = re.compile(r"[/\\](?:site|dist)-packages[/\\](?:torch|triton)[/\\]")
HOOKS_FOLDER = Path(__file__).parents[1] / "payload" / "startup"


def hook_environment(report: Path, **variables: str) -> dict[str, str]:
    """Environment variables that start the hooks; each hook is enabled by its own entry of `variables`."""
    path = os.pathsep.join(filter(None, (str(HOOKS_FOLDER), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "ROCM3D_RECORD": str(report), **variables}


def read_events(report: Path) -> list[dict[str, Any]]:
    """Hook events of a report file. Lines that a killed process left incomplete are skipped."""
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    events = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def loaded_modules(events: Events) -> tuple[LoadedModule, ...]:
    """Watched modules that were loaded, without duplicates."""
    loaded = {
        LoadedModule(name=line["name"], file=line["file"], version=line["version"], stands_in=line["stands_in"])
        for line in events
        if line["kind"] == "module"
    }
    return tuple(sorted(loaded, key=lambda module: (module.name, module.file)))


def import_fallbacks(events: Events, root: Path) -> tuple[ImportFallback, ...]:
    """Failed imports of watched modules, with the importing line. Imports by torch or triton itself and modules that
    were loaded later do not count."""
    all_events = list(events)
    loaded = {line["name"] for line in all_events if line["kind"] == "module"}
    missed = {
        ImportFallback(
            module=line["name"], reason=line["reason"], where=f"{_relative_path(line['file'], root)}:{line['line']}"
        )
        for line in all_events
        if line["kind"] == "missed" and line["name"] not in loaded and not _TORCH_FILE.search(line["file"])
    }
    return tuple(sorted(missed, key=lambda fallback: (fallback.module, fallback.where)))


def loaded_libraries(events: Events) -> tuple[str, ...]:
    """Shared libraries loaded by any process, without system libraries."""
    paths = {path for line in events if line["kind"] == "status" for path in line["libraries"]}
    return tuple(sorted(path for path in paths if not _is_system_library(path)))


def attention_calls(events: Events) -> tuple[AttentionBackend, ...]:
    """Calls of torch's scaled_dot_product_attention by SDPA backend, device and dtype."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for state in last_states(events):
        for entry in state["attention"]:
            counted[entry["way"], entry["device"], entry["dtype"]] += entry["calls"]
    return tuple(
        AttentionBackend(way=sdpa_backend, device=device, dtype=dtype, calls=calls)
        for (sdpa_backend, device, dtype), calls in sorted(counted.items())
    )


def kernel_times(events: Events, backends: Iterable[Backend]) -> tuple[KernelTime, ...]:
    """Kernels of all profiler windows, longest total time first."""
    all_events, known, times = list(events), tuple(backends), defaultdict[str, list[float]](lambda: [0, 0.0])
    compiled = {name for state in last_states(all_events) for name in state["triton"]}
    for event in all_events:
        if event["kind"] == "kernels":
            for name, (calls, microseconds) in event["kernels"].items():
                times[name][0] += calls
                times[name][1] += microseconds
    results = []
    for name, (calls, microseconds) in times.items():
        backend = backend_of_kernel(name, known)
        label = backend.backend if backend else TRITON_BACKEND if name in compiled else UNKNOWN_BACKEND
        results.append(
            KernelTime(
                name=name,
                calls=int(calls),
                microseconds=round(microseconds, 3),
                backend=label,
                operation=backend.operation if backend else "other",
            )
        )
    return tuple(sorted(results, key=lambda kernel: (-kernel.microseconds, kernel.name)))


def backends_by_operation(
    times: Iterable[KernelTime], attention: Iterable[AttentionBackend]
) -> dict[str, tuple[str, ...]]:
    """Backends of each kind of operation, longest time first.

    If no attention kernel was profiled, the SDPA backend that torch reported is used: the math backend consists of
    matrix products and a softmax, which no kernel name identifies as attention.
    """
    spent: dict[str, Counter[str]] = defaultdict(Counter)
    for kernel in times:
        spent[kernel.operation][kernel.backend] += round(kernel.microseconds)
    if "attention" not in spent:
        for call in attention:
            spent["attention"][f"torch SDPA {call.way} ({call.device})"] += call.calls
    return {name: tuple(label for label, _ in counted.most_common()) for name, counted in sorted(spent.items())}


def loop_steps(events: Events) -> tuple[Steps, ...]:
    """Loops of the process with the most steps: all ranks of a job run the same loops."""
    best: dict[str, Mapping[str, Any]] = {}
    for state in last_states(events):
        for kind, loop in state["loops"].items():
            if loop["count"] > best.get(kind, {"count": 0})["count"]:
                best[kind] = loop
    return tuple(
        Steps(
            kind=kind,
            count=summary["count"],
            first_seconds=summary["first"],
            steady_seconds=summary["steady"],
            points=tuple(summary["points"]),
            every=summary.get("every", 1),
        )
        for kind, summary in sorted(best.items())
    )


def peak(events: Events, key: str) -> int | None:
    """The largest value of `key` over all processes; None if no process reported it."""
    return max((state[key] for state in last_states(events) if key in state), default=None)


def gpu_memory_points(events: Events, started: float) -> tuple[MemoryPoint, ...]:
    """GPU memory reserved by all processes, one point per event; `started` is in seconds since the epoch."""
    held: dict[int, int] = {}
    points = []
    for event in sorted((event for event in events if "held" in event), key=lambda event: float(event["at"])):
        held[event["pid"]] = event["held"]
        points.append(MemoryPoint(seconds=round(max(0.0, event["at"] - started), 2), bytes=sum(held.values())))
    return tuple(points)


def last_states(events: Events) -> list[Mapping[str, Any]]:
    """The last status event of each process."""
    return list({line["pid"]: line for line in events if line["kind"] == "status"}.values())


def _relative_path(file: str, root: Path) -> str:
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else file


def _is_system_library(path: str) -> bool:
    return path.startswith(("/lib/", "/lib64/", "/usr/lib/")) or "/lib-dynload/" in path
