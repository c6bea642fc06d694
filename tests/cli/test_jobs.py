from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys

import pytest
from processes import Program
from waiting import DEADLINE, missed, output_of

FILE = """
[run]
slots = 2
gpus = []
[[job]]
id = "a"
command = ["sh", "-c", "echo from a"]
[[job]]
id = "b"
command = ["sh", "-c", "echo from b; exit 3"]
"""


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize("command", ["run", "status", "cancel", "retry"])
def test_invalid_file_is_one_line_with_a_hint(rocm3d, tmp_path, command):
    path = tmp_path / "jobs.toml"
    path.write_text("[run]\nslot = 2\n")
    ended = rocm3d("jobs", command, path)

    assert ended.code == 2
    first, hint = ended.err.splitlines()
    assert "run.slot: Extra inputs are not permitted" in first
    assert "docs/jobs.md" in hint


def test_unknown_engine_is_refused(rocm3d, jobs):
    jobs.write_text(FILE.replace("[run]", '[run]\nengine = "cloud"'))
    ended = rocm3d("jobs", "run", jobs)
    assert ended.code == 2
    assert "run.engine" in ended.err


def test_jobs_from_run_to_logs(rocm3d, jobs):
    ended = rocm3d("jobs", "run", jobs, "--format", "json")
    assert ended.code == 1
    assert {job["id"]: (job["state"], job["code"]) for job in json.loads(ended.out)["jobs"]} == {
        "a": ("done", 0),
        "b": ("failed", 3),
    }
    assert "1 done, 1 failed" in ended.err
    status = rocm3d("jobs", "status", jobs)
    assert status.code == 1
    assert "exit code 3" in status.out
    assert rocm3d("jobs", "logs", jobs, "b").out == "from b\n"
    assert rocm3d("jobs", "logs", jobs, "b", "--follow", "--attempt", "1").out == "from b\n"
    assert rocm3d("jobs", "logs", jobs, "c").code == 2
    assert rocm3d("jobs", "retry", jobs, "b").code == 0
    assert rocm3d("jobs", "cancel", jobs).code == 0
    assert "b    cancelled" in rocm3d("jobs", "status", jobs).out


def read_until(terminal: int, text: bytes) -> bytes:
    """Reads the terminal until this text appears or the terminal closes."""
    shown = b""
    while text not in shown:
        if not select.select([terminal], [], [], DEADLINE)[0]:
            missed(f"{text!r} on the terminal after {shown!r}")
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    return shown


def test_terminal_shows_a_live_table(jobs, tmp_path):
    ours, theirs = pty.openpty()
    program = [sys.executable, "-c", "from rocm3d.cli.main import main; main()", "jobs", "run", str(jobs)]
    jobs.write_text(FILE.replace("echo from a", "until [ -e go ]; do sleep 0.05; done"))
    environment = {**os.environ, "TERM": "xterm"}
    with Program(program, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True) as process:
        os.close(theirs)
        shown = read_until(ours, b"1 running, 1 failed")
        (tmp_path / "go").touch()
        read_until(ours, b"\0")
        output_of(process)
    os.close(ours)
    assert b"running" in shown
    assert b"1 running, 1 failed" in shown, shown
    assert process.returncode == 1
