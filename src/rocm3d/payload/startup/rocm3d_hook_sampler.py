"""Samples the kernels on the GPU with torch's profiler, in short windows so that the program stays fast."""

from __future__ import annotations

import threading
import time
from typing import Any

from rocm3d_hook_tools import report_event, safely

FIRST_WINDOW, WINDOW = 0.25, 0.1
MIN_PAUSE = 0.5  # minimum seconds between two windows, because each slows the program down
FIRST_PAUSE, SHORT_PAUSE, PAUSE_FACTOR, LONGEST_PAUSE = 0.5, 1.0, 2, 60.0
BUSY = 0.01  # share of a window; with less, the program still loads or compiles
POLL, STOP_SECONDS = 0.05, 60.0
COPY_PREFIXES = ("Memcpy", "Memset")


class Sampler:
    """Opens a window at the first use of the GPU, then with growing pauses, and one for each new kernel.

    It stops when the program starts its own profiler, and waits while the program captures a graph: the end of a
    window synchronises the device, which would break the capture.
    """

    def __init__(self, torch: Any) -> None:
        self.torch, self.profiler = torch, torch.autograd.profiler
        self.ended, self.hinted = threading.Event(), threading.Event()
        self.condition, self.captures, self.is_open = threading.Condition(), 0, False
        self.thread = threading.Thread(target=lambda: safely(self._run), daemon=True, name="rocm3d-sampler")

    def start(self) -> None:
        """Start the sampling thread. The profiler must be initialised by the thread that imported torch."""
        if not (self.torch.version.cuda or self.torch.version.hip):
            return
        with self.profiler.profile(use_kineto=True):
            pass
        self._yield_to_program()
        safely(self._wrap_captures)
        self.thread.start()

    def hint(self) -> None:
        """A new kernel was compiled: open a window soon, it may not run for long."""
        self.hinted.set()

    def stop(self) -> None:
        """Report the open window and stop: the program ends, or starts its own profiler."""
        self.ended.set()
        self.hinted.set()
        if self.thread.is_alive():
            self.thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self.torch.cuda.is_initialized():
            if self.ended.wait(POLL):
                return
        length, pause = FIRST_WINDOW, FIRST_PAUSE
        while not self.ended.is_set():
            self.hinted.clear()
            if not self._may_open():
                return
            try:
                busy = self._window(length)
            finally:
                self._close_window()
            is_new = self._pause(pause)
            length = WINDOW
            pause = min(PAUSE_FACTOR * pause, LONGEST_PAUSE if busy and not is_new else SHORT_PAUSE)

    def _pause(self, pause: float) -> bool:
        """Wait for the next window; True if a hint ended the wait."""
        return not self.ended.wait(min(MIN_PAUSE, pause)) and self.hinted.wait(max(0.0, pause - MIN_PAUSE))

    def _window(self, length: float) -> bool:
        """Report the kernels of one window; True if the GPU was busy with more than copies. Synchronises the device."""
        since = time.perf_counter()
        with self.profiler.profile(use_cpu=False, use_device="cuda", use_kineto=True) as window:
            self.ended.wait(length)
        kernels: dict[str, list[float]] = {}
        for event in window.kineto_results.events():
            if int(event.device_type()) != 0:  # 0 is the CPU
                entry = kernels.setdefault(event.name(), [0, 0.0])
                entry[0] += 1
                entry[1] += event.duration_ns() / 1000
        report_event(kind="kernels", seconds=time.perf_counter() - since, kernels=kernels)
        spent = sum(entry[1] for name, entry in kernels.items() if not name.startswith(COPY_PREFIXES))
        return spent / 1e6 > BUSY * length

    def _may_open(self) -> bool:
        """Wait until no graph is being captured; False if the program ends before that."""
        with self.condition:
            while self.captures:
                self.condition.wait(POLL)
                if self.ended.is_set():
                    return False
            self.is_open = True
        return True

    def _close_window(self) -> None:
        with self.condition:
            self.is_open = False
            self.condition.notify_all()

    def _wrap_captures(self) -> None:
        """Wrap CUDAGraph: a capture starts when no window is open, and no window opens during a capture."""
        graph = getattr(self.torch.cuda, "CUDAGraph", None)
        if graph is None:
            return
        begin, end = graph.capture_begin, graph.capture_end

        def capture_begin(*args: Any, **kwargs: Any) -> Any:
            with self.condition:
                self.captures += 1  # before the wait, so that no other window opens
                self.condition.wait_for(lambda: not self.is_open, STOP_SECONDS)
            try:
                return begin(*args, **kwargs)
            except BaseException:
                self._end_capture()
                raise

        def capture_end(*args: Any, **kwargs: Any) -> Any:
            try:
                return end(*args, **kwargs)
            finally:
                self._end_capture()

        graph.capture_begin, graph.capture_end = capture_begin, capture_end

    def _end_capture(self) -> None:
        with self.condition:
            self.captures = max(0, self.captures - 1)
            self.condition.notify_all()

    def _yield_to_program(self) -> None:
        """Stop sampling when the program starts a profiler: a second one would raise an error in the program."""
        module = self.profiler
        for name in ("_prepare_profiler", "_enable_profiler"):
            setattr(module, name, self._stopping(getattr(module, name)))

    def _stopping(self, original: Any) -> Any:
        def stop_and_call(*args: Any, **kwargs: Any) -> Any:
            if threading.current_thread() is not self.thread:
                self.stop()
            return original(*args, **kwargs)

        return stop_and_call
