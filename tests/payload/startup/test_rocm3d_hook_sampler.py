"""With a profiler of our own: a real one needs a GPU, and is tried on one (docs/benchmarks.md)."""

from __future__ import annotations

import json
import threading
import types

import pytest


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
    place = tmp_path / "report.jsonl"
    return [json.loads(line)["kernels"] for line in place.read_text().splitlines()] if place.exists() else []


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


def test_the_window_that_is_open_at_the_end_is_told(torch, tmp_path):
    one = sampler(torch)
    one.start()
    while not torch.open:
        threading.Event().wait(0.001)
    one.stop()

    assert windows(tmp_path) == [{"Memcpy HtoD": [1, 2.0]}]


def test_a_profiler_of_the_program_ends_ours_first(torch, tmp_path):
    one = sampler(torch)
    one.start()
    while not torch.open:
        threading.Event().wait(0.001)
    with torch.autograd.profiler.profile():
        assert not one.thread.is_alive()

    assert len(windows(tmp_path)) == 1


def test_times_of_a_kernel_are_added_up(torch, tmp_path, monkeypatch):
    monkeypatch.setattr("rocm3d_hook_sampler.FIRST", 0.0, raising=False)
    torch.autograd.profiler.profile.events = (Event("k"), Event("k", microseconds=3.0), Event("Memset"))

    assert sampler(torch)._window(0.0) is True
    assert windows(tmp_path) == [{"k": [2, 5.0], "Memset": [1, 2.0]}]


def test_copies_alone_are_no_work(torch):
    assert sampler(torch)._window(0.0) is False
