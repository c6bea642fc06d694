"""A recorded run as text: hardware, backends, steps, memory, artifacts, and missing parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord, Steps

MIB = 1024 * 1024
_KERNELS = 5


def lines(run: RunRecord) -> Iterator[tuple[str, str]]:
    """Label and text, most important first."""
    yield "ran on", place(run)
    for operation, labels in run.backends.items():
        if operation != "copy":
            yield operation, ", ".join(labels)
    yield from (("kernel", _kernel(run, number)) for number in range(min(_KERNELS, len(run.kernels))))
    yield from (("module", f"{item.name} {item.version} ({item.file})") for item in run.modules)
    yield from (("substitute", f"{item.name}: {item.stands_in}") for item in run.modules if item.stands_in)
    yield from (("fallback", f"{item.module}: {item.reason}, imported at {item.where}") for item in run.fallbacks)
    yield from (("steps", steps(item)) for item in run.steps)
    taken = memory(run)
    if taken:
        yield "memory", taken
    for artifact in run.artifacts:
        numbers = ", ".join(f"{name} {value:g}" for name, value in artifact.metrics.items())
        yield "artifact", f"{artifact.path}: {artifact.outcome}: {artifact.reason or numbers}"
    yield from (("missing", f"{item.link}: {item.reason}") for item in run.missing)


def outcome(run: RunRecord) -> str:
    """Such as `train: finished after 12.0 s`."""
    return f"{run.name}: {run.status} after {run.seconds:.1f} s{': ' + run.reason if run.reason else ''}"


def steps(item: Steps) -> str:
    """The time of the first step and the median of the others."""
    steady = "" if item.steady_seconds is None else f", then {item.steady_seconds * 1000:.3g} ms each"
    return f"{item.count} of the {item.kind}: first after {item.first_seconds:.3g} s{steady}"


def memory(run: RunRecord) -> str:
    """Peak GPU and host memory."""
    parts = []
    if run.memory.gpu_reserved is not None:
        parts.append(f"{run.memory.gpu_reserved / MIB:.0f} MiB GPU")
    if run.memory.host is not None:
        parts.append(f"{run.memory.host / MIB:.0f} MiB host")
    return ", ".join(parts)


def place(run: RunRecord) -> str:
    """GPU, torch version and build."""
    about = run.manifest
    gpu = f"{about.gpu}{f' ({about.gfx})' if about.gfx else ''}" if about.gpu else "no GPU"
    build = f"HIP {about.rocm}" if about.rocm else f"CUDA {about.cuda}" if about.cuda else "CPU build"
    return f"{gpu}, torch {about.torch} ({build})" if about.torch else f"{gpu}, without torch"


def _kernel(run: RunRecord, number: int) -> str:
    item, whole = run.kernels[number], sum(kernel.microseconds for kernel in run.kernels)
    name = item.name if len(item.name) <= 60 else f"{item.name[:57]}..."
    return f"{round(100 * item.microseconds / whole)}% {item.backend}: {name} ({item.calls} calls)" if whole else name
