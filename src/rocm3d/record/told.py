"""Hook events of a workload, aggregated over all its processes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.knowledge.kernels import backend_of_kernel
from rocm3d.model.run import AttentionBackend, ImportFallback, KernelTime, LoadedModule, MemoryPoint, Steps

if TYPE_CHECKING:
    from rocm3d.model.backend import Backend

Lines = Iterable[Mapping[str, Any]]
NOT_KNOWN, TRITON = "not known by name", "Triton kernel of the program"
_TORCH = re.compile(r"[/\\](?:site|dist)-packages[/\\](?:torch|triton)[/\\]")


def modules(lines: Lines) -> tuple[LoadedModule, ...]:
    """Watched modules that were loaded, without duplicates."""
    found = {
        LoadedModule(name=line["name"], file=line["file"], version=line["version"], stands_in=line["stands_in"])
        for line in lines
        if line["kind"] == "module"
    }
    return tuple(sorted(found, key=lambda item: (item.name, item.file)))


def fallbacks(lines: Lines, root: Path) -> tuple[ImportFallback, ...]:
    """Failed imports of watched modules, with the importing line. Imports by torch or triton itself and modules that
    were loaded later do not count."""
    told = list(lines)
    loaded = {line["name"] for line in told if line["kind"] == "module"}
    found = {
        ImportFallback(module=line["name"], reason=line["reason"], where=f"{_near(line['file'], root)}:{line['line']}")
        for line in told
        if line["kind"] == "missed" and line["name"] not in loaded and not _TORCH.search(line["file"])
    }
    return tuple(sorted(found, key=lambda item: (item.module, item.where)))


def libraries(lines: Lines) -> tuple[str, ...]:
    """Shared libraries loaded by any process, without system libraries."""
    paths = {path for line in lines if line["kind"] == "status" for path in line["libraries"]}
    return tuple(sorted(path for path in paths if not _is_of_system(path)))


def attention(lines: Lines) -> tuple[AttentionBackend, ...]:
    """Calls of torch's scaled_dot_product_attention by SDPA backend, device and dtype."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for state in last_states(lines):
        for item in state["attention"]:
            counted[item["way"], item["device"], item["dtype"]] += item["calls"]
    return tuple(
        AttentionBackend(way=way, device=device, dtype=dtype, calls=calls)
        for (way, device, dtype), calls in sorted(counted.items())
    )


def kernels(lines: Lines, backends: Iterable[Backend]) -> tuple[KernelTime, ...]:
    """Kernels of all profiler windows, longest total time first."""
    told, known, times = list(lines), tuple(backends), defaultdict[str, list[float]](lambda: [0, 0.0])
    compiled = {name for state in last_states(told) for name in state["triton"]}
    for line in told:
        if line["kind"] == "kernels":
            for name, (calls, microseconds) in line["kernels"].items():
                times[name][0] += calls
                times[name][1] += microseconds
    found = []
    for name, (calls, microseconds) in times.items():
        backend = backend_of_kernel(name, known)
        label = backend.backend if backend else TRITON if name in compiled else NOT_KNOWN
        found.append(
            KernelTime(
                name=name,
                calls=int(calls),
                microseconds=round(microseconds, 3),
                backend=label,
                operation=backend.operation if backend else "other",
            )
        )
    return tuple(sorted(found, key=lambda item: (-item.microseconds, item.name)))


def by_operation(times: Iterable[KernelTime], ways: Iterable[AttentionBackend]) -> dict[str, tuple[str, ...]]:
    """Backends of each kind of operation, longest time first.

    If no attention kernel was profiled, the SDPA backend that torch reported is used: the math backend consists of
    matrix products and a softmax, which no kernel name identifies as attention.
    """
    spent: dict[str, Counter[str]] = defaultdict(Counter)
    for item in times:
        spent[item.operation][item.backend] += round(item.microseconds)
    if "attention" not in spent:
        for way in ways:
            spent["attention"][f"torch SDPA {way.way} ({way.device})"] += way.calls
    return {name: tuple(label for label, _ in counted.most_common()) for name, counted in sorted(spent.items())}


def steps(lines: Lines) -> tuple[Steps, ...]:
    """Loops of the process with the most steps: all ranks of a job run the same loops."""
    best: dict[str, Mapping[str, Any]] = {}
    for state in last_states(lines):
        for kind, told in state["loops"].items():
            if told["count"] > best.get(kind, {"count": 0})["count"]:
                best[kind] = told
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


def most(lines: Lines, key: str) -> int | None:
    """The largest value of `key` over all processes; None if no process reported it."""
    return max((state[key] for state in last_states(lines) if key in state), default=None)


def gpu_memory(lines: Lines, started: float) -> tuple[MemoryPoint, ...]:
    """GPU memory reserved by all processes, one point per event; `started` is in seconds since the epoch."""
    held: dict[int, int] = {}
    found = []
    for line in sorted((line for line in lines if "held" in line), key=lambda line: float(line["at"])):
        held[line["pid"]] = line["held"]
        found.append(MemoryPoint(seconds=round(max(0.0, line["at"] - started), 2), bytes=sum(held.values())))
    return tuple(found)


def last_states(lines: Lines) -> list[Mapping[str, Any]]:
    """The last status event of each process."""
    return list({line["pid"]: line for line in lines if line["kind"] == "status"}.values())


def _near(file: str, root: Path) -> str:
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else file


def _is_of_system(path: str) -> bool:
    return path.startswith(("/lib/", "/lib64/", "/usr/lib/")) or "/lib-dynload/" in path
