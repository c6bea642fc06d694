"""Nothing of a contained program survives its end, whatever its processes do to leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from processes import Program, children, command_line, is_running, kill
from waiting import DEADLINE, begin_limits_at, wait_for_file, wait_until_gone

from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import CONTAIN_HELPER, run, run_watched

pytestmark = [
    pytest.mark.timeout(DEADLINE),
    pytest.mark.skipif(sys.platform != "linux", reason="not run: containment needs Linux"),
]

# How a process leaves its session, its parent, its environment and its output.
ESCAPES = {
    "setsid": "setsid sleep 3600 & echo $! > new; mv new pid",
    "environment cleared": "setsid env -i sleep 3600 & echo $! > new; mv new pid",
    "double fork": "(setsid env -i sh -c 'sleep 3600 & echo $! > new; mv new pid' &) & "
    "until [ -e pid ]; do sleep 0.01; done",
    "no output": "setsid env -i sleep 3600 </dev/null >/dev/null 2>&1 & echo $! > new; mv new pid",
    "signals ignored": "setsid sh -c 'trap \"\" TERM INT HUP; echo $$ > new; mv new pid; sleep 3600' & "
    "until [ -e pid ]; do sleep 0.01; done",
    "another folder": "home=$PWD; (cd / && setsid env -i sleep 3600 & echo $! > $home/new; mv $home/new $home/pid)",
}


class Watcher:
    def __init__(self):
        self.text, self.reason = b"", ""

    def write(self, chunk):
        self.text += chunk

    def sample(self, group):
        pass

    def escaped(self, reason):
        self.reason = reason


@pytest.fixture(params=ESCAPES.values(), ids=ESCAPES)
def escape(request, tmp_path):
    yield request.param
    if (tmp_path / "pid").exists():
        kill([int((tmp_path / "pid").read_text())])


def daemon(tmp_path) -> int:
    return int((tmp_path / "pid").read_text())


def watch(tmp_path, script: str, seconds: float = DEADLINE) -> tuple[int | None, Watcher]:
    watcher = Watcher()
    return run_watched(["sh", "-c", script], watcher, cwd=tmp_path, env=dict(os.environ), seconds=seconds), watcher


def test_a_daemon_is_ended_with_its_program(tmp_path, escape):
    code, watcher = watch(tmp_path, f"{escape}; exit 3")

    assert code == 3
    assert not watcher.reason
    assert not is_running(daemon(tmp_path))


def test_a_daemon_is_ended_at_the_time_limit(tmp_path, escape, monkeypatch):
    begin_limits_at(tmp_path / "pid", monkeypatch)
    code, _ = watch(tmp_path, f"{escape}; exec sleep 3600", seconds=0.1)

    assert code is None
    assert not is_running(daemon(tmp_path))


@pytest.mark.parametrize("guard", ["guarded_scratch_folder", "scratch_folder"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_a_daemon_is_ended_when_rocm3d_is_stopped(tmp_path, escape, number, guard):
    """SIGKILL leaves rocm3d no time for anything. The cleanup helper of the scratch folder kills by environment."""
    program = f"""
import os
from pathlib import Path
from rocm3d.workspace.process import {guard}, run
with {guard}():
    run(["sh", "-c", {escape + "; exec sleep 3600"!r}], cwd=Path({str(tmp_path)!r}), seconds=3600, contained=True)
"""
    with Program([sys.executable, "-c", program], stderr=subprocess.DEVNULL) as rocm3d:
        pid = int(wait_for_file(tmp_path / "pid"))
        rocm3d.send_signal(number)
        wait_until_gone(pid)
        rocm3d.wait()


def test_a_tree_of_processes_that_keeps_growing_is_ended(tmp_path):
    """Each process starts another in a new session before it ends."""
    (tmp_path / "run.sh").write_text("echo $$ >> pids\nsleep 0.01\nsetsid env -i PATH=$PATH sh run.sh &\n")
    watch(tmp_path, "sh run.sh & sh run.sh & until [ $(wc -l < pids) -gt 20 ]; do sleep 0.01; done")

    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) > 20
    assert not any(map(is_running, pids))
    assert pids == [int(line) for line in (tmp_path / "pids").read_text().split()]


def test_a_killed_launcher_ends_the_program_and_is_reported(tmp_path):
    script = "echo $PPID > new; mv new pid; exec sleep 3600"
    watcher = Watcher()

    def sample(group):
        if (tmp_path / "pid").exists():
            watcher.group = group
            os.kill(daemon(tmp_path), signal.SIGKILL)

    watcher.sample = sample
    run_watched(["sh", "-c", script], watcher, cwd=tmp_path, env=dict(os.environ), seconds=DEADLINE)

    assert watcher.reason == "the process that ends them was killed"
    wait_until_gone(watcher.group)


def test_a_launcher_that_the_program_stopped_still_ends_everything(tmp_path, escape, monkeypatch):
    begin_limits_at(tmp_path / "pid", monkeypatch)
    _, watcher = watch(tmp_path, f"kill -STOP $PPID; {escape}; exec sleep 3600", seconds=0.1)

    assert not watcher.reason
    assert not is_running(daemon(tmp_path))


def test_processes_of_others_are_not_touched(tmp_path):
    with Program(["sleep", "3600"]) as other:
        watch(tmp_path, "true")

        assert is_running(other.pid)


@pytest.mark.parametrize("code", [0, 1, 77, 255])
def test_the_exit_code_is_the_programs(code):
    assert run(["sh", "-c", f"exit {code}"], contained=True).code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_death_by_a_signal_is_reported_as_such(number):
    assert (
        run([sys.executable, "-c", f"import os; os.kill(os.getpid(), {int(number)})"], contained=True).code == -number
    )


def test_a_missing_program_is_a_machine_error():
    with pytest.raises(MachineError, match="rocm3d-no-such-program is not installed"):
        run(["rocm3d-no-such-program"], contained=True)


def test_a_file_that_is_no_program_is_a_machine_error(tmp_path):
    (tmp_path / "program").write_bytes(b"not a program")
    (tmp_path / "program").chmod(0o755)
    with pytest.raises(MachineError, match="cannot start"):
        run([str(tmp_path / "program")], contained=True)


def test_environment_signals_and_descriptors_are_as_without_it():
    """Python changes some of them in its own process."""
    script = "tr '\\0' '\\n' < /proc/self/environ | sort; grep -E 'Sig(Ign|Blk)' /proc/self/status; ls /proc/self/fd"
    env = {"PATH": os.environ["PATH"], "ONE": "a b", "LC_ALL": "C"}

    plain, contained = (run(["sh", "-c", script], env=env, contained=value).stdout for value in (False, True))

    assert contained == plain


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_a_signal_that_rocm3d_ignores_ends_neither_the_launcher_nor_the_program(number):
    """As under nohup: the program sends it to the launcher, its parent, and to itself."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        ended = run(["sh", "-c", f"kill -{int(number)} $PPID $$; echo done"], contained=True)
    finally:
        signal.signal(number, before)

    assert (ended.code, ended.stdout) == (0, b"done\n")


def test_a_program_leads_a_session_of_its_own():
    script = "import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))"
    assert run([sys.executable, "-c", script], contained=True).stdout == b"True\n"


def test_nothing_is_left_of_the_launcher(tmp_path):
    watch(tmp_path, "true")

    assert not any(str(CONTAIN_HELPER) in command_line(pid) for pid in children(os.getpid()))
