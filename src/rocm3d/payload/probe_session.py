"""The session of a probe in the user's environment: inputs, references, the profiler, and results of its checks.

Loaded by probe_backend.py from its path. A probe receives a ProbeSession and imports no other module of rocm3d.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

_ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


class FallbackError(Exception):
    """The package is installed, but its accelerated backend is not available."""


class NotRunError(Exception):
    """The package could not be checked."""


def loaded_libraries() -> set[str]:
    """Paths of all shared libraries of this process, from /proc/self/maps or, without it, from sys.modules."""
    maps = Path("/proc/self/maps")
    if maps.is_file():
        fields = (line.split(maxsplit=5) for line in maps.read_text(errors="replace").splitlines())
        paths = {parts[5] for parts in fields if len(parts) == 6}
    else:
        paths = {str(getattr(module, "__file__", "")) for module in [*sys.modules.values()]}
    return {path for path in paths if path.endswith((".so", ".pyd", ".dylib")) or ".so." in Path(path).name}


class ProbeSession:
    """`modules` are the imported modules of the package. `device` is cuda, or cpu to test only the comparison.

    `evidence` is what proves a real backend: library, provider, device or kernels.
    """

    def __init__(self, request: dict[str, Any], torch: Any, modules: Sequence[Any], load: Callable[[str], Any]) -> None:
        self.torch, self.modules, self._load = torch, list(modules), load
        self.device: str = request["device"]
        self.tolerances: dict[str, Sequence[float]] = request["tolerances"]
        self.checks: list[dict[str, Any]] = []
        self.facts: dict[str, Any] = {}
        self.kernels: set[str] | None = None
        self.evidence = "library"
        self._can_profile: bool | None = None

    def fall_back(self, reason: str) -> NoReturn:
        """End the probe: only a slow fallback is available."""
        raise FallbackError(reason)

    def not_run(self, reason: str) -> NoReturn:
        """End the probe: the package cannot be checked."""
        raise NotRunError(reason)

    def submodule(self, name: str) -> Any:
        """Import a submodule of the package; ends the probe as a fallback if that fails."""
        full = f"{self.modules[0].__name__}.{name}"
        try:
            return importlib.import_module(full)
        except ImportError as error:
            self.fall_back(f"{full} cannot be imported: {error}")

    def reference(self, name: str) -> Any:
        """Load a module of references/."""
        return self._load(f"references/{name}")

    def random_normal(self, *shape: int, seed: int = 0) -> Any:
        """Standard normal float32 numbers, equal on every machine because they are drawn on the CPU."""
        generator = self.torch.Generator().manual_seed(seed)
        return self.torch.randn(*shape, generator=generator).to(self.device)

    def half_dtype(self) -> Any:
        """float16 on a GPU; float32 on the CPU, whose attention needs it."""
        return self.torch.float32 if self.device == "cpu" else self.torch.float16

    def reference_attention(self, query: Any, key: Any, value: Any) -> Any:
        """Attention in float64 on the CPU; all tensors are [..., length, channels]."""
        q, k, v = (tensor.detach().double().cpu() for tensor in (query, key, value))
        return self.torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v

    def run(self, call: Callable[[], Any]) -> Any:
        """Call twice: to warm up, then with the profiler. Free GPU memory is filled with NaN before each call."""
        self._poison()
        call()
        self._poison()
        result, kernels = self.run_profiled(call)
        if kernels is not None:
            self.kernels = (self.kernels or set()) | kernels
        return result

    def run_profiled(self, call: Callable[[], Any]) -> tuple[Any, set[str] | None]:
        """The result, and the names of kernels and copies on the device; None if profiling is not possible."""
        if self._can_profile is None:
            self._can_profile = self.device != "cpu" and self._profiler_shows_kernels()
        return self._trace(call) if self._can_profile else (call(), None)

    def _profiler_shows_kernels(self) -> bool:
        """Profile a known kernel: access to the counters may be forbidden."""
        try:
            names = self._trace(lambda: self.random_normal(64) * 2)[1]
        except (RuntimeError, OSError, ValueError, LookupError) as error:
            self.facts["profile"] = f"profiler failed: {error}"
            return False
        if not names:
            self.facts["profile"] = "profiler shows no kernels on this machine"
        return bool(names)

    def _trace(self, call: Callable[[], Any]) -> tuple[Any, set[str]]:
        profiler = self.torch.profiler
        kinds = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
        self.torch.cuda.synchronize()
        with profiler.profile(activities=kinds) as profile:
            result = call()
            self.torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            trace_path = Path(folder, "trace.json")
            profile.export_chrome_trace(str(trace_path))
            trace = json.loads(trace_path.read_text(encoding="utf-8", errors="replace"))
        events = (event for event in trace["traceEvents"] if event.get("cat") in _ON_DEVICE)
        return result, {event["name"] for event in events}

    def _poison(self) -> None:
        """Fill free GPU memory with NaN, so that an output that is never written cannot be correct by chance.

        Works because torch caches freed GPU memory. Freed CPU memory goes back to the system.
        """
        if self.device == "cpu":
            return
        poisoned = [
            self.torch.full((2**power,), math.nan, device=self.device) for power in range(6, 19, 2) for _ in range(8)
        ]
        del poisoned

    def check_close(self, name: str, actual: Any, expected: Any, tolerance: str) -> None:
        """Record whether a result equals the reference within a named tolerance, and where it differs most."""
        rtol, atol = self.tolerances[tolerance]
        check: dict[str, Any] = {"name": name, "tolerance": tolerance, "agrees": False, "reason": ""}
        self.checks.append(check)
        a, b = (self.torch.as_tensor(value).detach().cpu().double() for value in (actual, expected))
        if a.shape != b.shape:
            check["reason"] = f"has the shape {list(a.shape)}, not {list(b.shape)}"
            return
        error, allowed = (a - b).abs(), atol + rtol * b.abs()
        # Relative to the allowed error, which may be zero.
        share = self.torch.where(error == 0, error, error / allowed)
        worst_index = int(self.torch.where(a.isfinite(), share, self.torch.full_like(share, math.inf)).argmax())
        worst = {
            "index": _unravel(worst_index, list(a.shape)),
            "got": str(float(a.flatten()[worst_index])),
            "wanted": str(float(b.flatten()[worst_index])),
        }
        check.update(agrees=bool((error <= allowed).all()), max_error=_finite(float(error.max())), worst=worst)
        if not check["agrees"]:
            check["reason"] = _difference(a, b, worst)

    def check_equal(self, name: str, actual: object, expected: object) -> None:
        """Record whether a value is the expected one."""
        agrees = actual == expected
        reason = "" if agrees else f"is {actual!r}, not {expected!r}"
        self.checks.append({"name": name, "tolerance": "", "agrees": agrees, "reason": reason})


def _difference(actual: Any, expected: Any, worst: dict[str, Any]) -> str:
    if not actual.any() and expected.any():
        return "computes nothing: the result is all zero"
    nonfinite = int((~actual.isfinite()).sum())
    if nonfinite:
        return f"{nonfinite} of {actual.numel()} elements are not finite"
    return f"is {worst['got']} at {worst['index']}, not {worst['wanted']}"


def _unravel(flat: int, shape: list[int]) -> list[int]:
    """Indices of an element, from its index in the flattened tensor."""
    position: list[int] = []
    for size in reversed(shape):
        flat, index = divmod(flat, size)
        position.insert(0, index)
    return position


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
