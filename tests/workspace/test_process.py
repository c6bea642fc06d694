"""A program runs without a shell, ends in time with all it started, and cannot flood us."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rocm3d.model.failure import Exit, MachineLacks
from rocm3d.workspace.process import MARK, beside, end_all, follow, kept, on_call, run


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def gone(pid: int) -> bool:
    """Whether a process has ended; one that waits to be reaped has."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


def test_missing_program_is_what_the_machine_lacks():
    with pytest.raises(MachineLacks, match="rocm3d-no-such-program is not installed here") as failure:
        run(["rocm3d-no-such-program", "--version"])
    assert failure.value.exit_code == Exit.MACHINE == 4


def test_missing_folder_is_not_blamed_on_the_program(tmp_path):
    with pytest.raises(Exception, match="nowhere"):
        run(python("pass"), cwd=tmp_path / "nowhere")


@pytest.mark.parametrize(("content", "mode"), [(b"#!/bin/sh\n", 0o644), (b"not a program", 0o755)])
def test_program_that_cannot_be_started_is_what_the_machine_lacks(tmp_path, content, mode):
    place = tmp_path / "program"
    place.write_bytes(content)
    place.chmod(mode)
    with pytest.raises(MachineLacks, match="program"):
        run([str(place)])


def test_nothing_is_expanded(tmp_path):
    words = ["$HOME", "*", "~", "`id`", "$(id)", "a;id", "a|b", "> x", "'", '"', "\\"]
    finished = run(["printf", "%s\\n", *words], cwd=tmp_path)
    assert finished.stdout.decode().splitlines() == words
    assert list(tmp_path.iterdir()) == []


def test_time_limit_ends_the_program():
    began = time.monotonic()
    finished = run(python("import time; print('begun', flush=True); time.sleep(60)"), seconds=1)
    assert finished.timed_out
    assert finished.code is None
    assert finished.stdout == b"begun\n"
    assert time.monotonic() - began < 10


def test_time_limit_ends_grandchildren_too(tmp_path):
    finished = run(["sh", "-c", "sleep 300 & echo $!; wait"], seconds=1)
    assert finished.timed_out
    assert gone(int(finished.stdout))


def test_grandchild_left_behind_by_a_normal_end_is_ended():
    began = time.monotonic()
    finished = run(["sh", "-c", "sleep 300 & echo $!"], seconds=30)
    assert finished.code == 0
    assert gone(int(finished.stdout))
    assert time.monotonic() - began < 10


def test_program_that_ignores_polite_signals_is_ended():
    code = "import signal, time\nfor s in (15, 2, 1): signal.signal(s, signal.SIG_IGN)\ntime.sleep(60)"
    began = time.monotonic()
    assert run(python(code), seconds=1).timed_out
    assert time.monotonic() - began < 10


def test_grandchild_in_a_session_of_its_own_does_not_hold_the_call():
    """It keeps the pipe open, and the limit must hold all the same."""
    code = (
        "import subprocess, time\n"
        "subprocess.Popen(['sleep', '8'], start_new_session=True)\n"
        "print('begun', flush=True)\ntime.sleep(8)"
    )
    began = time.monotonic()
    finished = run(python(code), seconds=1)
    assert finished.timed_out
    assert finished.stdout == b"begun\n"
    assert time.monotonic() - began < 5


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


def test_streams_are_kept_apart():
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
    assert run(["cat"], seconds=10).stdout == b""


def test_environment_is_exactly_what_was_given():
    finished = run(["/usr/bin/env"], env={"ONE": "1", "TWO": "a b"})
    assert sorted(finished.stdout.splitlines()) == [b"ONE=1", b"TWO=a b"]


def test_environment_is_inherited_where_none_was_given(monkeypatch):
    monkeypatch.setenv("ROCM3D_TEST_WORD", "here")
    assert b"ROCM3D_TEST_WORD=here" in run(["/usr/bin/env"]).stdout.splitlines()


def test_program_runs_in_the_folder_asked_for(tmp_path):
    assert run(python("import os; print(os.getcwd())"), cwd=tmp_path).stdout.decode().strip() == str(tmp_path)


def test_program_leads_a_session_of_its_own():
    finished = run(python("import os; print(os.getsid(0) == os.getpid())"))
    assert finished.stdout == b"True\n"


def test_what_is_kept_bears_a_mark_and_nothing_else_does(tmp_path):
    """By it the keeper finds what we started, should we be killed."""
    code = f"import os; print(os.environ.get({MARK!r}, ''))"

    assert run(python(code)).stdout.strip() == b""
    with kept(tmp_path):
        assert len(run(python(code)).stdout.strip()) == 16
        assert len(run(python(code), env={"PATH": "/usr/bin"}).stdout.strip()) == 16
    assert run(python(code)).stdout.strip() == b""
    assert tmp_path.is_dir()


def test_programs_of_other_threads_can_be_ended():
    ended = []
    thread = threading.Thread(target=lambda: ended.append(run(["sleep", "60"], seconds=60)))
    thread.start()
    while thread.is_alive():
        end_all()
        thread.join(0.05)

    assert ended[0].code is not None
    assert ended[0].code < 0


class Kept:
    def __init__(self):
        self.text, self.looks = b"", 0

    def write(self, chunk):
        self.text += chunk

    def look(self, group):
        self.looks += 1
        os.killpg(group, 0)


def test_a_program_is_followed_in_the_order_in_which_it_prints(tmp_path):
    loop = "for n in range(40): print(n, file=(sys.stderr, sys.stdout)[n % 2], flush=True)"
    program = f"import sys, time\n{loop}\ntime.sleep(1)"
    kept = Kept()
    code = follow([sys.executable, "-c", program], kept, cwd=tmp_path, env=dict(os.environ), seconds=60)

    assert code == 0
    assert kept.text.split() == [str(n).encode() for n in range(40)]
    assert kept.looks >= 1


def test_a_program_that_is_followed_ends_at_its_limit(tmp_path):
    kept = Kept()

    assert follow(["sh", "-c", "echo on; sleep 60"], kept, cwd=tmp_path, env=dict(os.environ), seconds=1) is None
    assert kept.text == b"on\n"


def test_a_follower_that_fails_does_not_concern_the_program(tmp_path):
    class Gone(Kept):
        def write(self, chunk):
            raise BrokenPipeError

    assert follow(["echo", "on"], Gone(), cwd=tmp_path, env=dict(os.environ), seconds=60) == 0


def test_a_companion_that_is_not_installed_is_what_the_machine_lacks():
    with pytest.raises(MachineLacks, match="not installed here"), beside(["rocm3d-no-such-program"]):
        pytest.fail("started")


def test_a_companion_ends_with_the_block_and_all_it_started(tmp_path):
    code = (
        "import subprocess, sys, time; child = subprocess.Popen(['sleep', '60']); "
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid)); print('ready', flush=True); time.sleep(60)"
    )
    with contextlib.suppress(ValueError), beside(python(code)) as companion:
        while companion.printed != b"ready\n":
            time.sleep(0.05)
        assert not companion.ended
        raise ValueError("whatever happens in the block")

    assert gone(int((tmp_path / "pid").read_text()))


def test_all_that_a_companion_printed_is_there_once_it_has_ended():
    with beside(python("import sys; print('last'); print('words', file=sys.stderr)")) as companion:
        while not companion.ended:
            time.sleep(0.02)
        printed = companion.printed

    assert sorted(printed.split()) == [b"last", b"words"]


def test_ctrl_c_while_a_program_is_started_ends_it_too(tmp_path, monkeypatch):
    """The moment between its start and our knowing of it."""
    made = []
    real = subprocess.Popen

    def popen(*given, **named):
        made.append(real(*given, **named))
        signal.raise_signal(signal.SIGINT)
        return made[0]

    monkeypatch.setattr("rocm3d.workspace.process.subprocess.Popen", popen)
    with pytest.raises(KeyboardInterrupt):
        run(["sleep", "60"], cwd=tmp_path, seconds=60)

    assert made[0].wait(10) != 0


def test_a_program_on_call_ends_when_its_socket_does():
    code = "import socket, sys; s = socket.socket(fileno=int(sys.argv[1])); s.sendall(s.recv(9).upper()); s.recv(9)"
    with on_call(python(code)) as line:
        line.sendall(b"hello")
        assert line.recv(9) == b"HELLO"


def test_a_program_on_call_that_does_not_go_is_ended(monkeypatch):
    monkeypatch.setattr("rocm3d.workspace.process.PATIENCE", 0.2)
    code = "import os, socket, sys, time; os.write(int(sys.argv[1]), str(os.getpid()).encode()); time.sleep(99)"
    with on_call(python(code)) as line:
        pid = int(line.recv(99))
    assert gone(pid)
