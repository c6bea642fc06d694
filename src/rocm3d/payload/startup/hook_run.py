"""Tells what a workload does: `rocm3d run`.

Wanted where ROCM3D_RUN holds a JSON object: `watch` (modules by name), `profile` (whether kernels are sampled). Lines
go to the file that ROCM3D_RECORD names, as things happen and every few seconds: a program that is killed has told most.
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
from rocm3d_hook_tools import after_import, safely, tell

OFTEN, RARELY = 2.0, 30.0
IMPORTING = ("importlib", "rocm3d_hook_")


def start() -> None:
    """Wait for what is watched; import nothing of it."""
    asked = os.environ.get("ROCM3D_RUN")
    if not asked:
        return
    settings = json.loads(asked)
    tell(
        kind="process",
        pid=os.getpid(),
        argv=list(getattr(sys, "orig_argv", sys.argv)),
        executable=sys.executable,
        python=".".join(map(str, sys.version_info[:3])),
        path=sys.path,
    )
    for name in settings["watch"]:
        after_import(name, seen, missed)
    status = Status()
    after_import("tqdm.std", status.loops.watch_bars)
    after_import("triton.compiler.compiler", status.compiled.watch)
    after_import("torch", lambda torch: status.watch(torch, profile=settings["profile"]))
    atexit.register(status.tell)


def seen(module: Any) -> None:
    """A watched module, and where it came from. What it says of itself is read, not computed."""
    about = vars(module)
    tell(
        kind="module",
        name=module.__name__,
        file=about.get("__file__") or next(iter(about.get("__path__") or ()), ""),
        version=str(about.get("__version__") or ""),
        stands_in=str(about.get("__rocm3d__") or ""),
    )


def missed(name: str, reason: str) -> None:
    """A watched module that was looked for in vain, and who asked: a fallback may follow in silence."""
    frame = sys._getframe(1)
    while frame.f_back is not None and any(part in frame.f_code.co_filename for part in IMPORTING):
        frame = frame.f_back
    tell(kind="missed", name=name, reason=reason, file=frame.f_code.co_filename, line=frame.f_lineno)


class Status:
    """What changes while the program runs: told from a thread of our own, and at the end."""

    def __init__(self) -> None:
        self.loops, self.attention, self.compiled = Loops(), Attention(), Compiled()
        self.torch: Any = None
        self.libraries: set[str] = set()

    def watch(self, torch: Any, *, profile: bool) -> None:
        """From now on, everything that torch does."""
        self.torch = torch
        safely(lambda: self.attention.watch(torch))
        safely(self.loops.watch_optimizers)
        threading.Thread(target=self._tell_often, daemon=True, name="rocm3d-status").start()
        if profile:
            sampler = Sampler(torch)
            sampler.start()
            self.compiled.hint = sampler.hint
            atexit.register(sampler.stop)

    def tell(self) -> None:
        """The state now, with the libraries that are new; rocm3d takes the rest of it from a process's last line."""
        new = libraries() - self.libraries
        self.libraries |= new
        tell(
            kind="status",
            pid=os.getpid(),
            libraries=sorted(new),
            attention=self.attention.told(),
            loops=self.loops.told(),
            triton=sorted(self.compiled.names),
            **(device(self.torch) if self.torch is not None else {}),
        )

    def _tell_often(self) -> None:
        pause = OFTEN
        while True:
            time.sleep(pause)
            safely(self.tell)
            pause = min(2 * pause, RARELY)


class Compiled:
    """Kernels that Triton compiled or took from its cache, by name: a profile shows no more of them."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.loaded: set[str] = set()
        self.hint: Callable[[], None] = lambda: None

    def watch(self, compiler: Any) -> None:
        """Every one that is made from now on; the hint comes when it may run, for its launcher takes long to build."""
        kind = compiler.CompiledKernel
        make, load = kind.__init__, getattr(kind, "_init_handles", None)

        def made(kernel: Any, *given: Any, **named: Any) -> None:
            make(kernel, *given, **named)
            self.names.add(str(getattr(kernel, "name", "")))
            if load is None:
                self._is_new(kernel)

        def loaded(kernel: Any, *given: Any, **named: Any) -> Any:
            result = load(kernel, *given, **named) if load is not None else None
            self._is_new(kernel)
            return result

        kind.__init__ = made
        if load is not None:
            kind._init_handles = loaded

    def _is_new(self, kernel: Any) -> None:
        name = str(getattr(kernel, "name", ""))
        if name not in self.loaded:
            self.loaded.add(name)
            self.hint()


def device(torch: Any) -> dict[str, Any]:
    """The GPU that this process uses, if it does, and the most it took of its memory."""
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
    """Shared objects that are mapped into this process."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123
            paths = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    except OSError:
        return set()
    return {path for path in paths if path.endswith(".so") or ".so." in path}
