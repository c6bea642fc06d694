"""A recorded run as text: hardware, backends, steps, memory, artifacts, and missing parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord, Steps

MIB = 1024 * 1024
_MAX_KERNELS = 5


def run_lines(run: RunRecord) -> Iterator[tuple[str, str]]:
    """Label and text, most important first."""
    yield "ran on", hardware_text(run)
    for operation, labels in run.backends.items():
        if operation != "copy":
            yield operation, ", ".join(labels)
    yield from (("kernel", _kernel_text(run, number)) for number in range(min(_MAX_KERNELS, len(run.kernels))))
    yield from (("module", f"{item.name} {item.version} ({item.file})") for item in run.modules)
    yield from (("substitute", f"{item.name}: {item.stands_in}") for item in run.modules if item.stands_in)
    yield from (("fallback", f"{item.module}: {item.reason}, imported at {item.where}") for item in run.fallbacks)
    yield from (("steps", steps_text(item)) for item in run.steps)
    peak_memory = memory_text(run)
    if peak_memory:
        yield "memory", peak_memory
    for artifact in run.artifacts:
        numbers = ", ".join(f"{name} {value:g}" for name, value in artifact.metrics.items())
        yield "artifact", f"{artifact.path}: {artifact.outcome}: {artifact.reason or numbers}"
    yield from (("missing", f"{item.link}: {item.reason}") for item in run.missing)


def outcome_line(run: RunRecord) -> str:
    """Such as `train: finished after 12.0 s`."""
    return f"{run.name}: {run.status} after {run.seconds:.1f} s{': ' + run.reason if run.reason else ''}"


def steps_text(steps: Steps) -> str:
    """The time of the first step and the median of the others."""
    steady = "" if steps.steady_seconds is None else f", then {steps.steady_seconds * 1000:.3g} ms each"
    return f"{steps.count} of the {steps.kind}: first after {steps.first_seconds:.3g} s{steady}"


def memory_text(run: RunRecord) -> str:
    """Peak GPU and host memory."""
    parts = []
    if run.memory.gpu_reserved is not None:
        parts.append(f"{run.memory.gpu_reserved / MIB:.0f} MiB GPU")
    if run.memory.host is not None:
        parts.append(f"{run.memory.host / MIB:.0f} MiB host")
    return ", ".join(parts)


def hardware_text(run: RunRecord) -> str:
    """GPU, torch version and build."""
    manifest = run.manifest
    gpu = f"{manifest.gpu}{f' ({manifest.gfx})' if manifest.gfx else ''}" if manifest.gpu else "no GPU"
    build = f"HIP {manifest.rocm}" if manifest.rocm else f"CUDA {manifest.cuda}" if manifest.cuda else "CPU build"
    return f"{gpu}, torch {manifest.torch} ({build})" if manifest.torch else f"{gpu}, without torch"


def _kernel_text(run: RunRecord, number: int) -> str:
    entry, total = run.kernels[number], sum(kernel.microseconds for kernel in run.kernels)
    name = entry.name if len(entry.name) <= 60 else f"{entry.name[:57]}..."
    return (
        f"{round(100 * entry.microseconds / total)}% {entry.backend}: {name} ({entry.calls} calls)" if total else name
    )
