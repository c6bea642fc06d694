from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from processes import Program
from waiting import DEADLINE, begin_limits_at, output_of, wait_for_file, wait_until_gone

from rocm3d.model.errors import MachineError
from rocm3d.record.run import RunRequest, WorkloadMonitor, classify_ending, record_run, watched_modules


@pytest.fixture
def recorded(knowledge, tmp_path):
    def run(program: str, seconds: float = DEADLINE, command: tuple[str, ...] = ()):
        folder, into = tmp_path / "repo", tmp_path / "into"
        folder.mkdir()
        into.mkdir()
        return record_run(RunRequest(command or (sys.executable, "-c", program), "a", folder, seconds), into, knowledge)

    return run


def test_missing_program_is_a_machine_error(recorded):
    with pytest.raises(MachineError, match="nobody-has-this is not installed"):
        recorded("", command=("nobody-has-this",))


@pytest.mark.parametrize(
    ("ended", "tail", "status", "reason"),
    [
        (0, "", "finished", ""),
        ("interrupted", "", "interrupted", "keyboard"),
        ("timed_out", "", "timed_out", "stopped at the 5 s limit"),
        (3, "ValueError: bad\n\n", "failed", "exit code 3: ValueError: bad"),
        (1, "torch.OutOfMemoryError: HIP out of memory. Tried\nmore", "out_of_memory", "HIP out of memory"),
        (-9, "", "killed", "SIGKILL; possibly out of memory"),
        (-11, "", "killed", "SIGSEGV"),
        (-40, "", "killed", "signal 40"),
    ],
)
def test_every_ending_has_a_status_and_a_reason(ended, tail, status, reason):
    actual_status, actual_reason = classify_ending(ended, tail, 5.0)

    assert actual_status == status
    assert reason in actual_reason


def test_a_program_that_fails_leaves_a_record_with_what_it_printed(recorded, tmp_path):
    record = recorded("import sys; print('out'); print('last words', file=sys.stderr); sys.exit(3)")

    assert (record.status, record.exit_code) == ("failed", 3)
    assert record.reason == "exit code 3: last words"
    assert (tmp_path / "into" / "output.txt").read_bytes().count(b"\n") == 2


def test_the_limit_ends_the_program_and_all_it_started(recorded, tmp_path, monkeypatch):
    begin_limits_at(tmp_path / "repo" / "pid", monkeypatch)
    record = recorded("", 0.1, ("sh", "-c", "sleep 3600 & echo $! > new; mv new pid; wait"))

    assert (record.status, record.exit_code) == ("timed_out", None)
    assert record.reason == "stopped at the 0.1 s limit"
    wait_until_gone(int((tmp_path / "repo" / "pid").read_text()))


def test_events_before_a_kill_are_recorded(recorded):
    record = recorded("try:\n    import flash_attn\nexcept ImportError: pass\nimport os; os.kill(os.getpid(), 9)")

    assert record.status == "killed"
    assert [fallback.module for fallback in record.fallbacks] == ["flash_attn"]


def test_program_without_python_has_a_missing_link(recorded):
    record = recorded("", command=("true",))

    assert record.status == "finished"
    assert [link.link for link in record.missing] == ["what happened inside"]


def test_files_memory_and_interpreter_are_recorded(recorded, tmp_path, monkeypatch):
    """The program runs until its memory was sampled."""
    sampled = tmp_path / "seen"
    monkeypatch.setattr("rocm3d.workspace.process.POLL_SECONDS", 0.2)

    class NotingMonitor(WorkloadMonitor):
        def sample(self, group):
            super().sample(group)
            if (self.memory.peak or 0) > 80_000_000:
                sampled.touch()

    monkeypatch.setattr("rocm3d.record.run.WorkloadMonitor", NotingMonitor)
    record = recorded(
        "x = bytearray(80_000_000); open('a.txt', 'w').write('1')\n"
        f"import os, time\nwhile not os.path.exists({str(sampled)!r}): time.sleep(0.02)"
    )

    assert [file.path for file in record.files] == ["a.txt"]
    assert record.memory.host > 80_000_000
    assert max(point.bytes for point in record.memory.host_points) == record.memory.host
    assert record.memory.gpu_reserved is None
    assert record.manifest.interpreter == sys.executable
    assert record.manifest.python == ".".join(map(str, sys.version_info[:3]))
    assert record.seconds > 0


def test_every_package_of_the_knowledge_base_is_watched(knowledge):
    assert {"torch", "triton", "flash_attn", "gsplat", "xformers"} <= set(watched_modules(knowledge))


def test_ctrl_c_leaves_an_interrupted_record(tmp_path):
    program = f"""
import sys
from pathlib import Path
from rocm3d.knowledge.load import load
from rocm3d.record.run import RunRequest, record_run
into = Path({str(tmp_path / "into")!r}); into.mkdir()
work = RunRequest(("sh", "-c", "echo started > started; sleep 3600"), "a", Path({str(tmp_path)!r}), {DEADLINE})
print(record_run(work, into, load()).status)
"""
    with Program([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        wait_for_file(tmp_path / "started")
        child.send_signal(signal.SIGINT)

        assert output_of(child)[0] == "interrupted\n"
