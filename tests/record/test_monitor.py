from __future__ import annotations

import io

from rocm3d.record import monitor
from rocm3d.record.monitor import WorkloadMonitor


def test_silence_is_reported_on_the_terminal_only(tmp_path, monkeypatch):
    monkeypatch.setattr(monitor, "SILENCE_SECONDS", 0.0)
    terminal = io.BytesIO()
    workload_monitor = WorkloadMonitor(tmp_path / "o", terminal, ("TRITON_CACHE_DIR",))
    workload_monitor.sample(2**30)
    workload_monitor.close()

    assert b"still running after 0 s" in terminal.getvalue()
    assert b"empty caches: TRITON_CACHE_DIR" in terminal.getvalue()
    assert (tmp_path / "o").read_bytes() == b""


def test_closed_terminal_does_not_end_the_program(tmp_path, monkeypatch):
    class Gone(io.BytesIO):
        def write(self, _):
            raise BrokenPipeError

    monkeypatch.setattr(monitor, "SILENCE_SECONDS", 0.0)
    workload_monitor = WorkloadMonitor(tmp_path / "o", Gone(), ())
    workload_monitor.sample(2**30)
    workload_monitor.close()

    assert (tmp_path / "o").read_bytes() == b""


def test_no_silence_notice_while_the_program_prints(tmp_path):
    terminal = io.BytesIO()
    workload_monitor = WorkloadMonitor(tmp_path / "o", terminal, ())
    workload_monitor.write(b"hello\n")
    workload_monitor.sample(2**30)
    workload_monitor.close()

    assert terminal.getvalue() == b"hello\n" == (tmp_path / "o").read_bytes()


def test_output_after_close_is_dropped(tmp_path):
    workload_monitor = WorkloadMonitor(tmp_path / "o", None, ())
    workload_monitor.close()
    workload_monitor.write(b"late")

    assert (tmp_path / "o").read_bytes() == b""
