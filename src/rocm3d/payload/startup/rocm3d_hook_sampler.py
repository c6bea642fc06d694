"""Which kernels run on the GPU, by torch's profiler, in short windows: a program is not slowed down for the rest."""

from __future__ import annotations

import threading
import time
from typing import Any

from rocm3d_hook_tools import safely, tell

FIRST, WINDOW = 0.25, 0.1
NEAREST = 0.5  # however much is new, no two windows are nearer: each has its price
FIRST_PAUSE, SHORT_PAUSE, LONGER, LONGEST_PAUSE = 0.5, 1.0, 2, 60.0
BUSY = 0.01  # of a window; less is the first few kernels of a program that still loads or compiles
POLL, PATIENCE = 0.05, 60.0
COPIES = ("Memcpy", "Memset")


class Sampler:
    """A window at the first use of the GPU, then ever rarer, and one whenever something new is about to run.

    It gives way to a profiler of the program's own, and waits while the program captures a graph: a window waits for
    the device at its end, which would spoil the capture.
    """

    def __init__(self, torch: Any) -> None:
        self.torch, self.profiler = torch, torch.autograd.profiler
        self.ended, self.hinted = threading.Event(), threading.Event()
        self.turn, self.captures, self.is_open = threading.Condition(), 0, False
        self.thread = threading.Thread(target=lambda: safely(self._run), daemon=True, name="rocm3d-sampler")

    def start(self) -> None:
        """From now on, in a thread of our own; the profiler wants to be set up by the one that imported torch."""
        if not (self.torch.version.cuda or self.torch.version.hip):
            return
        with self.profiler.profile(use_kineto=True):
            pass
        self._give_way()
        safely(self._mind_captures)
        self.thread.start()

    def hint(self) -> None:
        """A kernel was made that nobody has seen yet: look soon, it may not run for long."""
        self.hinted.set()

    def stop(self) -> None:
        """The program ends, or profiles itself: what the open window saw is told first."""
        self.ended.set()
        self.hinted.set()
        if self.thread.is_alive():
            self.thread.join(PATIENCE)

    def _run(self) -> None:
        while not self.torch.cuda.is_initialized():
            if self.ended.wait(POLL):
                return
        length, pause = FIRST, FIRST_PAUSE
        while not self.ended.is_set():
            self.hinted.clear()
            if not self._may_open():
                return
            try:
                busy = self._window(length)
            finally:
                self._closed()
            is_new = self._rest(pause)
            length = WINDOW
            pause = min(LONGER * pause, LONGEST_PAUSE if busy and not is_new else SHORT_PAUSE)

    def _rest(self, pause: float) -> bool:
        """Until the next window is due; whether that is so because of something new."""
        return not self.ended.wait(min(NEAREST, pause)) and self.hinted.wait(max(0.0, pause - NEAREST))

    def _window(self, length: float) -> bool:
        """Tell what ran; whether it was more than copies and a few kernels. Work under way is waited for."""
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
        spent = sum(entry[1] for name, entry in kernels.items() if not name.startswith(COPIES))
        return spent / 1e6 > BUSY * length

    def _may_open(self) -> bool:
        """When no graph is being captured; False where the program ends before that."""
        with self.turn:
            while self.captures:
                self.turn.wait(POLL)
                if self.ended.is_set():
                    return False
            self.is_open = True
        return True

    def _closed(self) -> None:
        with self.turn:
            self.is_open = False
            self.turn.notify_all()

    def _mind_captures(self) -> None:
        """A capture begins when no window is open, and none opens before it has ended."""
        graph = getattr(self.torch.cuda, "CUDAGraph", None)
        if graph is None:
            return
        begin, end = graph.capture_begin, graph.capture_end

        def capture_begin(*given: Any, **named: Any) -> Any:
            with self.turn:
                self.captures += 1  # first, so that no other window opens
                self.turn.wait_for(lambda: not self.is_open, PATIENCE)
            try:
                return begin(*given, **named)
            except BaseException:
                self._captured()
                raise

        def capture_end(*given: Any, **named: Any) -> Any:
            try:
                return end(*given, **named)
            finally:
                self._captured()

        graph.capture_begin, graph.capture_end = capture_begin, capture_end

    def _captured(self) -> None:
        with self.turn:
            self.captures = max(0, self.captures - 1)
            self.turn.notify_all()

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
