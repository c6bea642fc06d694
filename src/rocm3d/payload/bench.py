"""What a probe has at hand in the target's environment: inputs, references, a profile, and what was compared.

Loaded by probe_backend.py from its path; a probe gets a Bench and imports nothing of ours.
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


class Fallback(Exception):  # noqa: N818  (an outcome, not a fault)
    """The package is there; what makes it fast is not."""


class NotRun(Exception):  # noqa: N818
    """Nothing could be looked at."""


def mapped() -> set[str]:
    """Every shared library of this process, as the kernel knows it; where it does not say, as the imports know it."""
    maps = Path("/proc/self/maps")
    if maps.is_file():
        fields = (line.split(maxsplit=5) for line in maps.read_text(errors="replace").splitlines())
        paths = {parts[5] for parts in fields if len(parts) == 6}
    else:
        paths = {str(getattr(module, "__file__", "")) for module in [*sys.modules.values()]}
    return {path for path in paths if path.endswith((".so", ".pyd", ".dylib")) or ".so." in Path(path).name}


class Bench:
    """`modules` are those of the package, imported; `device` is cuda, or cpu where only the comparison is tried.

    `evidence` is what shows a real backend: a loaded library, a provider, the device itself, or kernel names alone.
    """

    def __init__(self, request: dict[str, Any], torch: Any, modules: Sequence[Any], load: Callable[[str], Any]) -> None:
        self.torch, self.modules, self._load = torch, list(modules), load
        self.device: str = request["device"]
        self.tolerances: dict[str, Sequence[float]] = request["tolerances"]
        self.checks: list[dict[str, Any]] = []
        self.facts: dict[str, Any] = {}
        self.kernels: set[str] | None = None
        self.evidence = "library"
        self._sees: bool | None = None

    def fall_back(self, reason: str) -> NoReturn:
        """End here: the slow path is all there is."""
        raise Fallback(reason)

    def not_run(self, reason: str) -> NoReturn:
        """End here: nothing could be looked at."""
        raise NotRun(reason)

    def submodule(self, name: str) -> Any:
        """A module below the package; falls back where it is not there or cannot be loaded."""
        full = f"{self.modules[0].__name__}.{name}"
        try:
            return importlib.import_module(full)
        except ImportError as error:
            self.fall_back(f"{full} does not load: {error}")

    def reference(self, name: str) -> Any:
        """A file of references/."""
        return self._load(f"references/{name}")

    def random(self, *shape: int, seed: int = 0) -> Any:
        """The same standard normal numbers on every machine: drawn on the CPU, then moved."""
        generator = self.torch.Generator().manual_seed(seed)
        return self.torch.randn(*shape, generator=generator).to(self.device)

    def half(self) -> Any:
        """float16 on a GPU; the CPU's attention is float32."""
        return self.torch.float32 if self.device == "cpu" else self.torch.float16

    def attention(self, query: Any, key: Any, value: Any) -> Any:
        """The reference in float64 on the CPU; [..., length, channels]."""
        q, k, v = (tensor.detach().double().cpu() for tensor in (query, key, value))
        return self.torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v

    def run(self, call: Callable[[], Any]) -> Any:
        """Call it twice, first to warm up, then under a profile, with memory that nobody has written full of NaN."""
        self._poison()
        call()
        self._poison()
        result, kernels = self.profiled(call)
        if kernels is not None:
            self.kernels = (self.kernels or set()) | kernels
        return result

    def profiled(self, call: Callable[[], Any]) -> tuple[Any, set[str] | None]:
        """What it gives, and the names of all that ran on the device; None where no profile can be had."""
        if self._sees is None:
            self._sees = self.device != "cpu" and self._sees_kernels()
        return self._traced(call) if self._sees else (call(), None)

    def _sees_kernels(self) -> bool:
        """Whether a profile shows a kernel that is surely there: counters may be forbidden to us."""
        try:
            names = self._traced(lambda: self.random(64) * 2)[1]
        except (RuntimeError, OSError, ValueError, LookupError) as error:
            self.facts["profile"] = f"no profile: {error}"
            return False
        if not names:
            self.facts["profile"] = "no profile: it shows no kernel on this machine"
        return bool(names)

    def _traced(self, call: Callable[[], Any]) -> tuple[Any, set[str]]:
        profiler = self.torch.profiler
        kinds = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
        self.torch.cuda.synchronize()
        with profiler.profile(activities=kinds) as profile:
            result = call()
            self.torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "trace.json")
            profile.export_chrome_trace(str(place))
            trace = json.loads(place.read_text(encoding="utf-8", errors="replace"))
        events = (event for event in trace["traceEvents"] if event.get("cat") in _ON_DEVICE)
        return result, {event["name"] for event in events}

    def _poison(self) -> None:
        """An output that is never written must not look right because the memory happened to be zero.

        torch keeps freed memory of a GPU for the next who asks; that of the CPU goes back to the system.
        """
        if self.device == "cpu":
            return
        spoilt = [
            self.torch.full((2**power,), math.nan, device=self.device) for power in range(6, 19, 2) for _ in range(8)
        ]
        del spoilt

    def agree(self, name: str, got: Any, wanted: Any, tolerance: str) -> None:
        """Note whether a result is the reference's, within a named tolerance, and where it is worst."""
        rtol, atol = self.tolerances[tolerance]
        check: dict[str, Any] = {"name": name, "tolerance": tolerance, "agrees": False, "reason": ""}
        self.checks.append(check)
        a, b = (self.torch.as_tensor(value).detach().cpu().double() for value in (got, wanted))
        if a.shape != b.shape:
            check["reason"] = f"has the shape {list(a.shape)}, not {list(b.shape)}"
            return
        error, allowed = (a - b).abs(), atol + rtol * b.abs()
        # By share of what is allowed, not by size: nothing is allowed where nothing must differ.
        share = self.torch.where(error == 0, error, error / allowed)
        at = int(self.torch.where(a.isfinite(), share, self.torch.full_like(share, math.inf)).argmax())
        worst = {
            "index": _place(at, list(a.shape)),
            "got": str(float(a.flatten()[at])),
            "wanted": str(float(b.flatten()[at])),
        }
        check.update(agrees=bool((error <= allowed).all()), max_error=_finite(float(error.max())), worst=worst)
        if not check["agrees"]:
            check["reason"] = _difference(a, b, worst)

    def expect(self, name: str, got: object, wanted: object) -> None:
        """Note whether a fact is as it must be."""
        agrees = got == wanted
        reason = "" if agrees else f"is {got!r}, not {wanted!r}"
        self.checks.append({"name": name, "tolerance": "", "agrees": agrees, "reason": reason})


def _difference(got: Any, wanted: Any, worst: dict[str, Any]) -> str:
    if not got.any() and wanted.any():
        return "computes nothing: the result is all zero"
    odd = int((~got.isfinite()).sum())
    if odd:
        return f"{odd} of {got.numel()} elements are not finite"
    return f"is {worst['got']} at {worst['index']}, not {worst['wanted']}"


def _place(at: int, shape: list[int]) -> list[int]:
    """Where the element of a flat number stands."""
    place: list[int] = []
    for size in reversed(shape):
        at, here = divmod(at, size)
        place.insert(0, here)
    return place


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
