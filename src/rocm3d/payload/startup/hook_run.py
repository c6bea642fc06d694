"""Hook of `rocm3d run`: reports what a workload does.

Enabled by ROCM3D_RUN, a JSON object with `watch` (module names) and `profile` (whether kernels are sampled). Writes
events to the file in ROCM3D_RECORD as they happen and every few seconds, so that little is lost if it is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from rocm3d_hook_attention import Attention
from rocm3d_hook_loops import Loops
from rocm3d_hook_sampler import Sampler
from rocm3d_hook_tools import after_import, report_event, safely

FIRST_INTERVAL, MAX_INTERVAL = 2.0, 30.0
IMPORT_FILES = ("importlib", "rocm3d_hook_")


def start() -> None:
    """Report the process and install callbacks for watched modules; imports none of them."""
    variable = os.environ.get("ROCM3D_RUN")
    if not variable:
        return
    settings = json.loads(variable)
    report_event(
        kind="process",
        pid=os.getpid(),
        argv=list(getattr(sys, "orig_argv", sys.argv)),
        executable=sys.executable,
        python=".".join(map(str, sys.version_info[:3])),
        path=sys.path,
    )
    for name in settings["watch"]:
        after_import(name, report_module, report_missed)
    status = Status()
    after_import("tqdm.std", status.loops.watch_bars)
    after_import("triton.compiler.compiler", status.compiled.watch)
    after_import("torch", lambda torch: status.watch(torch, profile=settings["profile"]))
    atexit.register(status.report)


def report_module(module: Any) -> None:
    """Report a loaded module. Reads its __dict__ directly: getattr could run code of the module."""
    about = vars(module)
    report_event(
        kind="module",
        name=module.__name__,
        file=about.get("__file__") or next(iter(about.get("__path__") or ()), ""),
        version=str(about.get("__version__") or ""),
        stands_in=str(about.get("__rocm3d__") or ""),
    )


def report_missed(name: str, reason: str) -> None:
    """Report a failed import with the importing line: the program may silently use a fallback."""
    frame = sys._getframe(1)
    while frame.f_back is not None and any(part in frame.f_code.co_filename for part in IMPORT_FILES):
        frame = frame.f_back
    report_event(kind="missed", name=name, reason=reason, file=frame.f_code.co_filename, line=frame.f_lineno)


class Status:
    """State that changes while the program runs; reported periodically by a thread, and at exit."""

    def __init__(self) -> None:
        self.loops, self.attention, self.compiled = Loops(), Attention(), TritonKernels()
        self.torch: Any = None
        self.libraries: set[str] = set()

    def watch(self, torch: Any, *, profile: bool) -> None:
        """Start watching torch; called after its import."""
        self.torch = torch
        safely(lambda: self.attention.watch(torch))
        safely(self.loops.watch_optimizers)
        threading.Thread(target=self._report_periodically, daemon=True, name="rocm3d-status").start()
        if profile:
            sampler = Sampler(torch)
            sampler.start()
            self.compiled.hint = sampler.hint
            atexit.register(sampler.stop)

    def report(self) -> None:
        """Report the current state. Libraries are only the new ones; the last event has all other values."""
        new = libraries() - self.libraries
        self.libraries |= new
        report_event(
            kind="status",
            pid=os.getpid(),
            libraries=sorted(new),
            attention=self.attention.summary(),
            loops=self.loops.summary(),
            triton=sorted(self.compiled.names),
            **(device(self.torch) if self.torch is not None else {}),
        )

    def _report_periodically(self) -> None:
        pause = FIRST_INTERVAL
        while True:
            time.sleep(pause)
            safely(self.report)
            pause = min(2 * pause, MAX_INTERVAL)


class TritonKernels:
    """Names of kernels that Triton compiled or loaded from its cache: a profile shows only the names."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.loaded: set[str] = set()
        self.hint: Callable[[], None] = lambda: None

    def watch(self, compiler: Any) -> None:
        """Wrap CompiledKernel. The hint is given when a kernel can run: building its launcher takes long."""
        kind = compiler.CompiledKernel
        make, load = kind.__init__, getattr(kind, "_init_handles", None)

        def init(kernel: Any, *args: Any, **kwargs: Any) -> None:
            make(kernel, *args, **kwargs)
            self.names.add(str(getattr(kernel, "name", "")))
            if load is None:
                self._note_loaded(kernel)

        def init_handles(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            result = load(kernel, *args, **kwargs) if load is not None else None
            self._note_loaded(kernel)
            return result

        kind.__init__ = init
        if load is not None:
            kind._init_handles = init_handles

    def _note_loaded(self, kernel: Any) -> None:
        name = str(getattr(kernel, "name", ""))
        if name not in self.loaded:
            self.loaded.add(name)
            self.hint()


def device(torch: Any) -> dict[str, Any]:
    """Versions of torch, and the GPU of this process with its memory use (bytes) if it uses one."""
    about = {"torch": str(torch.__version__), "hip": torch.version.hip or "", "cuda": torch.version.cuda or ""}
    if not torch.cuda.is_initialized():
        return about
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        **about,
        "gpu": properties.name,
        "gfx": str(getattr(properties, "gcnArchName", "")).partition(":")[0] if torch.version.hip else "",
        "gpu_bytes": properties.total_memory,
        "allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
        "held": torch.cuda.memory_reserved(),
        "at": time.time(),
    }


def libraries() -> set[str]:
    """Paths of the shared libraries of this process."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123
            paths = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    except OSError:
        return set()
    return {path for path in paths if path.endswith(".so") or ".so." in path}
