"""Programs run without a shell, end in time with all children, and have limited output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest
from processes import is_running, kill
from waiting import (
    DEADLINE,
    begin_limits_at,
    wait_for_exit,
    wait_until,
    wait_until_gone,
)

from rocm3d.model.errors import ExitCode, MachineError
from rocm3d.workspace.process import (
    CLEANUP_VARIABLE,
    cleanup_if_killed,
    connected_helper,
    kill_all,
    run,
    run_in_background,
    run_watched,
)

# A program that is not killed in time blocks the call until this timeout.
pytestmark = pytest.mark.timeout(DEADLINE)


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


@pytest.fixture
def limit_from_pid(tmp_path, monkeypatch):
    """A file to which a program writes a process id when it is ready; its time limit starts then."""
    path = tmp_path / "pid"
    begin_limits_at(path, monkeypatch)
    yield path
    kill([int(path.read_text())])


def test_missing_program_is_a_machine_error():
    with pytest.raises(MachineError, match="rocm3d-no-such-program is not installed") as failure:
        run(["rocm3d-no-such-program", "--version"])
    assert failure.value.exit_code == ExitCode.MACHINE == 4


def test_missing_folder_is_not_blamed_on_the_program(tmp_path):
    with pytest.raises(Exception, match="nowhere"):
        run(python("pass"), cwd=tmp_path / "nowhere")


@pytest.mark.parametrize(("content", "mode"), [(b"#!/bin/sh\n", 0o644), (b"not a program", 0o755)])
def test_program_that_cannot_start_is_a_machine_error(tmp_path, content, mode):
    file_path = tmp_path / "program"
    file_path.write_bytes(content)
    file_path.chmod(mode)
    with pytest.raises(MachineError, match="program"):
        run([str(file_path)])


def test_nothing_is_expanded(tmp_path):
    words = ["$HOME", "*", "~", "`id`", "$(id)", "a;id", "a|b", "> x", "'", '"', "\\"]
    finished = run(["printf", "%s\\n", *words], cwd=tmp_path)
    assert finished.stdout.decode().splitlines() == words
    assert list(tmp_path.iterdir()) == []


def test_time_limit_ends_the_program(limit_from_pid):
    finished = run(["sh", "-c", f"echo begun; echo $$ > {limit_from_pid}; exec sleep 3600"], seconds=0.1)
    assert finished.timed_out
    assert finished.code is None
    assert finished.stdout == b"begun\n"
    wait_until_gone(int(limit_from_pid.read_text()))


def test_time_limit_ends_grandchildren_too(limit_from_pid):
    finished = run(["sh", "-c", f"sleep 3600 & echo $! > {limit_from_pid}; wait"], seconds=0.1)
    assert finished.timed_out
    wait_until_gone(int(limit_from_pid.read_text()))


def test_grandchild_left_behind_by_a_normal_end_is_ended():
    finished = run(["sh", "-c", "sleep 3600 & echo $!"], seconds=DEADLINE)
    assert finished.code == 0
    wait_until_gone(int(finished.stdout))


def test_program_that_ignores_polite_signals_is_ended(limit_from_pid):
    script = f"trap '' TERM INT HUP; echo $$ > {limit_from_pid}; exec sleep 3600"
    assert run(["sh", "-c", script], seconds=0.1).timed_out
    wait_until_gone(int(limit_from_pid.read_text()))


def test_grandchild_in_a_session_of_its_own_does_not_hold_the_call(limit_from_pid, monkeypatch):
    """It keeps the pipe open, but the call must not wait for it."""
    monkeypatch.setattr("rocm3d.workspace.process._DRAIN_SECONDS", 0.05)
    finished = run(["sh", "-c", f"setsid sleep 3600 & echo $! > {limit_from_pid}; sleep 3600"], seconds=0.1)
    assert finished.timed_out
    assert finished.capped
    assert is_running(int(limit_from_pid.read_text()))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_is_capped_and_the_program_not_blocked(stream):
    code = f"import sys; sys.{stream}.write('x' * 5_000_000); sys.{stream}.flush(); sys.exit(3)"
    finished = run(python(code), keep_bytes=1000)
    assert finished.code == 3
    assert finished.capped
    assert getattr(finished, stream) == b"x" * 1000


def test_output_of_exactly_the_limit_is_not_capped():
    finished = run(["printf", "12345678"], keep_bytes=8)
    assert finished.stdout == b"12345678"
    assert not finished.capped


def test_output_one_byte_over_the_limit_is_capped():
    finished = run(["printf", "123456789"], keep_bytes=8)
    assert finished.stdout == b"12345678"
    assert finished.capped


def test_streams_are_separate():
    finished = run(python("import sys; print('out'); print('err', file=sys.stderr)"))
    assert (finished.stdout, finished.stderr, finished.capped) == (b"out\n", b"err\n", False)


@pytest.mark.parametrize("code", [0, 1, 77, 255])
def test_exit_code_is_passed_through(code):
    finished = run(python(f"raise SystemExit({code})"))
    assert finished.code == code
    assert not finished.timed_out


def test_death_by_signal_is_no_time_out():
    finished = run(python("import os; os.kill(os.getpid(), 11)"))
    assert finished.code == -11
    assert not finished.timed_out


def test_input_is_empty():
    assert run(["cat"], seconds=DEADLINE).stdout == b""


def test_environment_is_exactly_the_argument():
    finished = run(["/usr/bin/env"], env={"ONE": "1", "TWO": "a b"})
    assert sorted(finished.stdout.splitlines()) == [b"ONE=1", b"TWO=a b"]


def test_environment_is_inherited_by_default(monkeypatch):
    monkeypatch.setenv("ROCM3D_TEST_WORD", "here")
    assert b"ROCM3D_TEST_WORD=here" in run(["/usr/bin/env"]).stdout.splitlines()


def test_program_runs_in_the_requested_folder(tmp_path):
    assert run(python("import os; print(os.getcwd())"), cwd=tmp_path).stdout.decode().strip() == str(tmp_path)


def test_program_leads_a_session_of_its_own():
    finished = run(python("import os; print(os.getsid(0) == os.getpid())"))
    assert finished.stdout == b"True\n"


def test_only_guarded_programs_have_the_cleanup_mark(tmp_path):
    """The cleanup helper finds our children by this mark."""
    code = f"import os; print(os.environ.get({CLEANUP_VARIABLE!r}, ''))"

    assert run(python(code)).stdout.strip() == b""
    with cleanup_if_killed(tmp_path):
        assert len(run(python(code)).stdout.strip()) == 16
        assert len(run(python(code), env={"PATH": "/usr/bin"}).stdout.strip()) == 16
    assert run(python(code)).stdout.strip() == b""
    assert tmp_path.is_dir()


def test_programs_of_other_threads_can_be_ended():
    ended = []
    thread = threading.Thread(target=lambda: ended.append(run(["sleep", "3600"], seconds=DEADLINE)), daemon=True)
    thread.start()

    def has_ended() -> bool:
        kill_all()
        return not thread.is_alive()

    wait_until(has_ended, "end of a program started by another thread")

    assert ended[0].code is not None
    assert ended[0].code < 0


class RecordingWatcher:
    def __init__(self):
        self.text, self.samples = b"", 0

    def write(self, chunk):
        self.text += chunk

    def sample(self, group):
        self.samples += 1
        os.killpg(group, 0)

    def escaped(self, reason):
        raise AssertionError(reason)


def test_watched_output_is_in_order(tmp_path):
    """The program runs until the watcher was called."""

    class Looking(RecordingWatcher):
        def sample(self, group):
            super().sample(group)
            (tmp_path / "looked").touch()

    script = (
        "for n in $(seq 0 39); do if [ $((n % 2)) = 0 ]; then echo $n >&2; else echo $n; fi; done; "
        "until [ -e looked ]; do sleep 0.05; done"
    )
    watcher = Looking()
    code = run_watched(["sh", "-c", script], watcher, cwd=tmp_path, env=dict(os.environ), seconds=DEADLINE)

    assert code == 0
    assert watcher.text.split() == [str(n).encode() for n in range(40)]
    assert watcher.samples >= 1


def test_watched_program_ends_at_its_limit(tmp_path, limit_from_pid):
    watcher = RecordingWatcher()
    script = f"echo on; echo $$ > {limit_from_pid}; exec sleep 3600"

    assert run_watched(["sh", "-c", script], watcher, cwd=tmp_path, env=dict(os.environ), seconds=0.1) is None
    assert watcher.text == b"on\n"
    wait_until_gone(int(limit_from_pid.read_text()))


def test_late_output_is_forwarded(tmp_path, monkeypatch):
    """The reader thread is delayed beyond the drain timeout."""
    overdue = threading.Event()

    def join(self, timeout=None):
        if timeout is None:
            overdue.set()
            threading.Thread.join(self)

    class Late(RecordingWatcher):
        def write(self, chunk):
            assert overdue.wait(DEADLINE)
            super().write(chunk)

    watcher = Late()
    monkeypatch.setattr("rocm3d.workspace.process._Drain.join", join)
    assert run_watched(["echo", "on"], watcher, cwd=tmp_path, env=dict(os.environ), seconds=DEADLINE) == 0
    assert watcher.text == b"on\n"


def test_failing_watcher_does_not_affect_the_program(tmp_path):
    class Gone(RecordingWatcher):
        def write(self, chunk):
            raise BrokenPipeError

    assert run_watched(["echo", "on"], Gone(), cwd=tmp_path, env=dict(os.environ), seconds=DEADLINE) == 0


def test_missing_background_program_is_a_machine_error():
    with pytest.raises(MachineError, match="is not installed"), run_in_background(["rocm3d-no-such-program"]):
        pytest.fail("started")


def test_background_program_ends_with_the_block(tmp_path):
    script = f"sleep 3600 & echo $! > {tmp_path}/pid; echo ready; wait"
    with contextlib.suppress(ValueError), run_in_background(["sh", "-c", script]) as companion:
        wait_until(lambda: companion.output == b"ready\n", "output of a background program")
        assert not companion.has_ended
        raise ValueError("whatever happens in the block")

    wait_until_gone(int((tmp_path / "pid").read_text()))


def test_output_of_an_ended_background_program_is_complete():
    with run_in_background(["sh", "-c", "echo last; echo words >&2"]) as companion:
        wait_until(lambda: companion.has_ended, "end of a background program")
        printed = companion.output

    assert sorted(printed.split()) == [b"last", b"words"]


def test_ctrl_c_while_a_program_is_started_ends_it_too(tmp_path, monkeypatch):
    """SIGINT arrives between the start of the program and its registration."""
    started = []
    real = subprocess.Popen

    def popen(*arguments, **named):
        started.append(real(*arguments, **named))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr("rocm3d.workspace.process.subprocess.Popen", popen)
    with pytest.raises(KeyboardInterrupt):
        run(["sleep", "3600"], cwd=tmp_path, seconds=DEADLINE)

    assert wait_for_exit(started[0]) != 0


def test_helper_ends_when_its_socket_closes(monkeypatch):
    monkeypatch.setattr("rocm3d.workspace.process.HELPER_EXIT_SECONDS", DEADLINE)
    code = "import socket, sys; s = socket.socket(fileno=int(sys.argv[1])); s.sendall(s.recv(9).upper()); s.recv(9)"
    with connected_helper(python(code)) as line:
        line.settimeout(DEADLINE)
        line.sendall(b"hello")
        assert line.recv(9) == b"HELLO"


def test_helper_that_does_not_exit_is_killed(monkeypatch):
    monkeypatch.setattr("rocm3d.workspace.process.HELPER_EXIT_SECONDS", 0.2)
    code = "import os, sys, time; os.write(int(sys.argv[1]), str(os.getpid()).encode()); time.sleep(3600)"
    with connected_helper(python(code)) as line:
        line.settimeout(DEADLINE)
        pid = int(line.recv(99))
    wait_until_gone(pid)
