"""Which kernels run on the GPU, by torch's profiler, in short windows: a program is not slowed down for the rest."""

from __future__ import annotations

import threading
import time
from typing import Any

from rocm3d_hook_tools import safely, tell

FIRST, WINDOW = 0.25, 0.1
SHORT_PAUSE, LONGER, LONGEST_PAUSE = 1.0, 2, 60.0
POLL, PATIENCE = 0.05, 60.0
COPIES = ("Memcpy", "Memset")


class Sampler:
    """A window at the first use of the GPU, then ever rarer. It gives way to a profiler of the program's own."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.profiler = torch, torch.autograd.profiler
        self.ended = threading.Event()
        self.thread = threading.Thread(target=lambda: safely(self._run), daemon=True, name="rocm3d-sampler")

    def start(self) -> None:
        """From now on, in a thread of our own; the profiler wants to be set up by the one that imported torch."""
        if not (self.torch.version.cuda or self.torch.version.hip):
            return
        with self.profiler.profile(use_kineto=True):
            pass
        self._give_way()
        self.thread.start()

    def stop(self) -> None:
        """The program ends, or profiles itself: what the open window saw is told first."""
        self.ended.set()
        if self.thread.is_alive():
            self.thread.join(PATIENCE)

    def _run(self) -> None:
        while not self.torch.cuda.is_initialized():
            if self.ended.wait(POLL):
                return
        length, pause = FIRST, SHORT_PAUSE
        while not self.ended.is_set():
            busy = self._window(length)
            self.ended.wait(pause)
            length = WINDOW
            pause = min(LONGER * pause, LONGEST_PAUSE) if busy else SHORT_PAUSE  # it may still be compiling

    def _window(self, length: float) -> bool:
        """Tell what ran; whether anything but copies did. Work that is under way is waited for, so that it is seen."""
        since = time.perf_counter()
        with self.profiler.profile(use_cpu=False, use_device="cuda", use_kineto=True) as window:
            self.ended.wait(length)
        kernels: dict[str, list[float]] = {}
        for event in window.kineto_results.events():
            if int(event.device_type()) != 0:  # 0 is the CPU
                entry = kernels.setdefault(event.name(), [0, 0.0])
                entry[0] += 1
                entry[1] += event.duration_ns() / 1000
        tell(kind="kernels", seconds=time.perf_counter() - since, kernels=kernels)
        return any(not name.startswith(COPIES) for name in kernels)

    def _give_way(self) -> None:
        """A second profiler would be an error in the program, not in ours."""
        module = self.profiler
        for name in ("_prepare_profiler", "_enable_profiler"):
            setattr(module, name, self._yielding(getattr(module, name)))

    def _yielding(self, original: Any) -> Any:
        def begun(*given: Any, **named: Any) -> Any:
            if threading.current_thread() is not self.thread:
                self.stop()
            return original(*given, **named)

        return begun
