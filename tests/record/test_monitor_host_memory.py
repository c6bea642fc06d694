from __future__ import annotations

import os
import subprocess
import sys

from processes import Program
from waiting import wait_for_line

from rocm3d.record import monitor
from rocm3d.record.monitor import HostMemory


def test_session_without_processes_has_no_peak():
    memory = HostMemory()
    memory.sample(2**30)

    assert memory.peak is None


def test_no_peak_without_proc(monkeypatch, tmp_path):
    monkeypatch.setattr(monitor, "PROC", tmp_path / "none")
    memory = HostMemory()
    memory.sample(os.getsid(0))

    assert memory.peak is None


def test_processes_of_a_session_are_added_up():
    program = "import sys; x = bytearray(60_000_000); print(len(x), flush=True); sys.stdin.read()"
    twice = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}])"
    pipe = subprocess.PIPE
    with Program([sys.executable, "-c", twice], stdin=pipe, stdout=pipe, text=True, start_new_session=True) as child:
        wait_for_line(child, "60000000")
        memory = HostMemory()
        memory.sample(child.pid)

    assert 60_000_000 < memory.peak < 500_000_000


def test_points_are_thinned_out_and_reach_to_the_end(monkeypatch):
    monkeypatch.setattr(monitor, "MAX_POINTS", 10)
    clock = iter(range(1000))
    monkeypatch.setattr(monitor.time, "monotonic", lambda: float(next(clock)))
    memory = HostMemory()
    for used_bytes in range(100):
        memory._store(used_bytes)

    points = memory.points(0.0)
    assert 5 <= len(points) <= 10
    assert points[0].bytes == 0
    assert points[-1].bytes > 80
    assert [point.seconds for point in points] == sorted(point.seconds for point in points)
