"""Uses a fake profiler: the real one needs a GPU and was tested on one (docs/benchmarks.md)."""

from __future__ import annotations

import json
import threading
import types

import pytest
from waiting import DEADLINE, wait_until


class Event:
    def __init__(self, name, device=1, microseconds=2.0):
        self._name, self._device, self._time = name, device, microseconds

    def name(self):
        return self._name

    def device_type(self):
        return self._device

    def duration_ns(self):
        return self._time * 1000


@pytest.fixture
def torch(hooks, monkeypatch, tmp_path):
    monkeypatch.setenv("ROCM3D_RECORD", str(tmp_path / "report.jsonl"))
    open_now = []

    class profile:  # noqa: N801
        events = (Event("Memcpy HtoD"), Event("launch", device=0))

        def __init__(self, **_):
            self.kineto_results = types.SimpleNamespace(events=lambda: self.events)

        def __enter__(self):
            module._enable_profiler()
            return self

        def __exit__(self, *_):
            open_now.pop()

    def enable():
        assert not open_now, "two profilers at once"
        open_now.append(1)

    module = types.SimpleNamespace(profile=profile, _enable_profiler=enable, _prepare_profiler=lambda: None)
    cuda = types.SimpleNamespace(is_initialized=lambda: fake.used)
    version = types.SimpleNamespace(cuda=None, hip="7.1")
    fake = types.SimpleNamespace(
        used=True, version=version, cuda=cuda, autograd=types.SimpleNamespace(profiler=module), open=open_now
    )
    return fake


def windows(tmp_path):
    report_path = tmp_path / "report.jsonl"
    return (
        [json.loads(line)["kernels"] for line in report_path.read_text().splitlines()] if report_path.exists() else []
    )


def sampler(torch):
    import rocm3d_hook_sampler

    return rocm3d_hook_sampler.Sampler(torch)


def test_a_build_of_torch_for_the_cpu_has_nothing_to_profile(torch):
    torch.version.hip = None
    one = sampler(torch)
    one.start()
    one.stop()

    assert not one.thread.is_alive()


def test_a_program_without_a_gpu_is_not_profiled(torch, tmp_path):
    torch.used = False
    one = sampler(torch)
    one.start()
    one.stop()

    assert not one.thread.is_alive()
    assert windows(tmp_path) == []


@pytest.fixture
def long_window(hooks, monkeypatch):
    """The first window stays open until it is closed explicitly."""
    monkeypatch.setattr("rocm3d_hook_sampler.FIRST_WINDOW", DEADLINE)


@pytest.mark.usefixtures("long_window")
def test_window_that_is_open_at_exit_is_reported(torch, tmp_path):
    one = sampler(torch)
    one.start()
    wait_until(lambda: torch.open, "an open window")
    one.stop()

    assert windows(tmp_path) == [{"Memcpy HtoD": [1, 2.0]}]


@pytest.mark.usefixtures("long_window")
def test_profiler_of_the_program_stops_the_sampler(torch, tmp_path):
    one = sampler(torch)
    one.start()
    wait_until(lambda: torch.open, "an open window")
    with torch.autograd.profiler.profile():
        assert not one.thread.is_alive()

    assert len(windows(tmp_path)) == 1


def test_times_of_a_kernel_are_added_up(torch, tmp_path, monkeypatch):
    monkeypatch.setattr("rocm3d_hook_sampler.FIRST_WINDOW", 0.0, raising=False)
    torch.autograd.profiler.profile.events = (Event("k"), Event("k", microseconds=3.0), Event("Memset"))

    assert sampler(torch)._window(0.0) is True
    assert windows(tmp_path) == [{"k": [2, 5.0], "Memset": [1, 2.0]}]


def test_copies_alone_are_not_busy(torch):
    assert sampler(torch)._window(0.0) is False


def test_few_kernels_are_not_busy(torch):
    torch.autograd.profiler.profile.events = (Event("k"), Event("k", microseconds=3.0))

    assert sampler(torch)._window(0.01) is False


@pytest.fixture
def slow(hooks, monkeypatch):
    """Windows with a long pause, but almost no minimum pause."""
    import rocm3d_hook_sampler

    set_to = {"FIRST_WINDOW": 0.0, "WINDOW": 0.0, "MIN_PAUSE": 0.01, "FIRST_PAUSE": DEADLINE, "SHORT_PAUSE": DEADLINE}
    for name, value in set_to.items():
        monkeypatch.setattr(rocm3d_hook_sampler, name, value)


def wait_for(number, tmp_path):
    wait_until(lambda: len(windows(tmp_path)) >= number, f"{number} windows")


def test_hint_opens_a_window_early(torch, tmp_path, slow):
    one = sampler(torch)
    one.start()
    wait_for(1, tmp_path)
    assert len(windows(tmp_path)) == 1
    one.hint()
    wait_for(2, tmp_path)
    one.stop()

    assert len(windows(tmp_path)) == 2
    assert not one.thread.is_alive()


def test_hints_respect_the_minimum_pause(torch, tmp_path, slow, monkeypatch):
    monkeypatch.setattr("rocm3d_hook_sampler.MIN_PAUSE", DEADLINE)
    one = sampler(torch)
    one.start()
    wait_for(1, tmp_path)
    for _ in range(100):
        one.hint()
    one.stop()

    assert len(windows(tmp_path)) == 1


@pytest.fixture
def graph(torch):
    """A fake of torch.cuda.CUDAGraph that records calls."""

    class CUDAGraph:
        done = ()

        def capture_begin(self, *, fails=False):
            assert not torch.open, "a window is open"
            if fails:
                raise RuntimeError
            self.done += ("begin",)

        def capture_end(self):
            self.done += ("end",)

    torch.cuda.CUDAGraph = CUDAGraph
    return CUDAGraph


class CountedCondition(threading.Condition):
    """Counts calls of wait."""

    waits = 0

    def wait(self, timeout=None):
        self.waits += 1
        return super().wait(timeout)


class EndsWithCapture(threading.Event):
    """Ends the window when a capture is requested."""

    def __init__(self, one):
        super().__init__()
        self.one = one

    def wait(self, timeout=None):
        if self.one.is_open:
            wait_until(lambda: self.one.captures or self.is_set(), "a capture")
        return super().wait(0.0 if self.one.is_open else timeout)


def test_a_capture_waits_for_the_open_window_and_no_window_opens_during_one(torch, tmp_path, slow, graph, monkeypatch):
    monkeypatch.setattr("rocm3d_hook_sampler.FIRST_PAUSE", 0.0)
    one, captured = sampler(torch), graph()
    one.condition, one.ended = CountedCondition(), EndsWithCapture(one)
    one.start()
    wait_until(lambda: torch.open, "an open window")
    captured.capture_begin()
    count, waits = len(windows(tmp_path)), one.condition.waits
    wait_until(lambda: one.condition.waits >= waits + 2, "a sampler that waits for the end of the capture")

    assert count == len(windows(tmp_path)) == 1
    captured.capture_end()
    wait_until(lambda: torch.open, "an open window")
    one.stop()
    assert len(windows(tmp_path)) == 2
    assert captured.done == ("begin", "end")


def test_failed_capture_does_not_block_the_sampler(torch, tmp_path, slow, graph):
    one = sampler(torch)
    one._wrap_captures()
    with pytest.raises(RuntimeError):
        graph().capture_begin(fails=True)

    assert one.captures == 0


def test_a_capture_that_never_ends_does_not_hold_up_the_end_of_the_program(torch, tmp_path, slow, graph):
    torch.used = False
    one = sampler(torch)
    one.start()
    graph().capture_begin()
    torch.used = True
    one.hint()
    one.stop()

    assert not one.thread.is_alive()
    assert windows(tmp_path) == []
