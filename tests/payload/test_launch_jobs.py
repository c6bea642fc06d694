"""The launcher alone: its status files, its refusals, and that no process survives it."""

from __future__ import annotations

import fcntl
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from processes import Program, end_family
from waiting import DEADLINE, missed, wait_for_exit, wait_for_file, wait_until_gone

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "launch_jobs.py"
PROGRAM = [sys.executable, "-I", "-S", str(SCRIPT)]


class LauncherClient:
    """A launcher process and the client side of its socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.line, theirs = socket.socketpair()
        self.line.settimeout(DEADLINE)
        with theirs:
            self.process = Program([*PROGRAM, "serve", str(theirs.fileno())], pass_fds=[theirs.fileno()])
        self.responses = self.line.makefile("rb")

    def request(self, command: list[str], **more: object) -> dict:
        paths = {"folder": str(self.folder), "log": str(self.folder / "log"), "status": str(self.folder / "a.1")}
        return {"do": "start", "key": "a.1", "command": command, "about": {"job": "a"}, **paths, **more}

    def start(self, command: list[str], **more: object) -> None:
        self.line.sendall(json.dumps(self.request(command, **more)).encode() + b"\n")

    def response(self) -> dict:
        try:
            return json.loads(self.responses.readline())
        except TimeoutError:
            missed("an answer of the launcher")

    def close(self) -> None:
        self.responses.close()
        self.line.close()
        end_family(self.process)


@pytest.fixture
def client(tmp_path):
    talk = LauncherClient(tmp_path)
    yield talk
    talk.close()


def test_an_attempt_that_has_a_file_is_not_begun_again(client, tmp_path):
    (tmp_path / "a.1.running").write_text("")
    client.start(["touch", "made"])
    assert "File exists" in client.response()["refused"]
    assert not (tmp_path / "made").exists()


def test_busy_gpu_is_reported_and_leaves_no_file(client, tmp_path):
    with (tmp_path / "gpu").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        client.start(["true"], lock=str(tmp_path / "gpu"))
        assert client.response() == {"key": "a.1", "busy": True}
    assert not (tmp_path / "a.1.running").exists()
    client.start(["true"], lock=str(tmp_path / "gpu"))
    assert client.response()["ended"]["ending"] == "done"


def test_a_lock_can_be_opened_by_others_and_needs_no_right_to_write(client, tmp_path):
    before = os.umask(0o077)
    try:
        again = LauncherClient(tmp_path)
        again.start(["true"], lock=str(tmp_path / "gpu"))
        assert "ended" in again.response()
        again.close()
    finally:
        os.umask(before)
    assert (tmp_path / "gpu").stat().st_mode & 0o777 == 0o644
    (tmp_path / "a.1").unlink()
    (tmp_path / "gpu").chmod(0o444)
    client.start(["true"], lock=str(tmp_path / "gpu"))
    assert client.response()["ended"]["ending"] == "done"


def test_a_lock_is_never_opened_through_a_link(client, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    client.start(["true"], lock=str(tmp_path / "link"))
    assert "refused" in client.response()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["log", "status"])
def test_unwritable_path_is_reported_and_leaves_no_file(client, tmp_path, name):
    client.start(["true"], **{name: str(tmp_path / "nowhere" / "x")})
    assert client.response()["errno"] == 2
    assert not list(tmp_path.glob("*.running"))


@pytest.mark.parametrize(
    ("command", "ending", "code", "number"),
    [
        ("exit 0", "done", 0, None),
        ("exit 5", "failed", 5, None),
        ("kill -SEGV $$", "failed", None, signal.SIGSEGV),
        ("kill -KILL $$", "killed", None, signal.SIGKILL),
        ("kill -TERM $$", "killed", None, signal.SIGTERM),
        ("rocm3d-no-such-program", "failed", 127, None),
    ],
)
def test_status_file_has_the_ending(client, tmp_path, command, ending, code, number):
    client.start(["sh", "-c", command])
    result = client.response()["ended"]
    assert (result["ending"], result["code"], result["signal"]) == (ending, code, number)
    assert json.loads((tmp_path / "a.1").read_bytes()) == result
    assert (tmp_path / "a.1").stat().st_size == 1024
    assert not (tmp_path / "a.1.running").exists()


def test_other_codes_can_mean_success(client):
    client.start(["sh", "-c", "exit 1"], success=[0, 1])
    assert client.response()["ended"]["ending"] == "done"


def test_of_several_masks_the_first_that_is_set_stays(client, tmp_path):
    client.start(["sh", "-c", "echo $A/$B/$C"], env={"A": "", "B": "1", "C": "2"}, masks=["A", "B", "C"])
    client.response()
    assert (tmp_path / "log").read_text() == "/1/\n"


def test_status_file_is_locked_while_the_job_runs(client, tmp_path):
    client.start(["sleep", "3600"])
    assert json.loads(wait_for_file(tmp_path / "a.1.running"))["ending"] == "running"
    with (tmp_path / "a.1.running").open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    client.line.sendall(json.dumps({"do": "end", "key": "a.1", "why": "cancelled"}).encode() + b"\n")
    assert client.response()["ended"]["ending"] == "cancelled"


@pytest.mark.parametrize("how", ["close", "kill"])
def test_nothing_outlives_the_launcher(client, tmp_path, how):
    """Only a launcher that was killed leaves an attempt without a recorded end."""
    client.start(["sh", "-c", "echo $$ > new; mv new pid; exec sleep 3600"])
    pid = int(wait_for_file(tmp_path / "pid"))
    if how == "close":
        client.line.shutdown(socket.SHUT_RDWR)
        assert wait_for_exit(client.process) == 0
    else:
        client.process.kill()
    wait_until_gone(pid)
    ending = json.loads((tmp_path / "a.1").read_bytes())["ending"] if (tmp_path / "a.1").exists() else ""
    assert ending == ("interrupted" if how == "close" else "")


def test_one_job_by_itself_ends_with_whoever_started_it(tmp_path, client):
    request = tmp_path / "request.json"
    request.write_text(json.dumps(client.request(["sh", "-c", "sleep 3600 & echo $! > new; mv new pid; wait"])))
    with Program([*PROGRAM, "one", str(request)]) as alone:
        pid = int(wait_for_file(tmp_path / "pid"))
        os.kill(alone.pid, signal.SIGKILL)
        wait_until_gone(pid)


def test_one_job_by_itself_has_its_status(tmp_path, client):
    request = tmp_path / "request.json"
    request.write_text(json.dumps(client.request(["sh", "-c", "exit 3"])))
    assert subprocess.run([*PROGRAM, "one", str(request)], check=False).returncode == 0
    assert json.loads((tmp_path / "a.1").read_bytes())["code"] == 3
    again = subprocess.run([*PROGRAM, "one", str(request)], check=False, capture_output=True, text=True)
    assert again.returncode == 0
    (tmp_path / "a.1.running").touch()
    again = subprocess.run([*PROGRAM, "one", str(request)], check=False, capture_output=True, text=True)
    assert again.returncode == 1
    assert "File exists" in again.stderr


def test_a_child_that_has_no_group_of_its_own_yet_is_ended_too():
    """A cancel may arrive before the child has created its process group."""
    module = runpy.run_path(str(SCRIPT), run_name="launch_jobs")
    with Program(["sleep", "3600"]) as child:
        module["send_signal"](child.pid, signal.SIGKILL)

        assert wait_for_exit(child) == -signal.SIGKILL
