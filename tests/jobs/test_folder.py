"""The runner lock: one runner at a time, identified by process id and start time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from processes import Program
from waiting import wait_for_line

from rocm3d.jobs.folder import run_folder
from rocm3d.model.failure import MachineError, UserError


@pytest.fixture
def folder(jobs_folder):
    return run_folder(jobs_folder.write(""), None)


def test_a_second_runner_is_refused_and_told_who_the_first_is(folder):
    with (
        folder.held(),
        pytest.raises(UserError, match=f"process {os.getpid()} is already running"),
        folder.held(),
    ):
        pass


def test_what_a_dead_runner_left_behind_is_waited_for(folder, monkeypatch):
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, 2); print('held', flush=True); sys.stdin.read()"
    folder.lock.write_text("999999999 1\n")
    command, pipe = [sys.executable, "-I", "-S", "-c", code, folder.lock], subprocess.PIPE
    with Program(command, stdin=pipe, stdout=pipe, text=True) as left:
        wait_for_line(left, "held")
        monkeypatch.setattr("rocm3d.jobs.folder._LEAVING", 0.1)
        with pytest.raises(MachineError, match="still held by a process"), folder.held():
            pass
    with folder.held() as number:
        assert os.fstat(number).st_ino == folder.lock.stat().st_ino


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="file"):
        run_folder(tmp_path / "jobs.toml", tmp_path / "file")


@pytest.mark.parametrize("said", ["", "x", "1 2 3", "0 0", "999999999 5", "PID 1"])
def test_who_is_not_there_runs_nothing(folder, said):
    folder.lock.write_text(said.replace("PID", str(os.getpid())))
    assert folder.runner() is None


def test_the_runner_is_known_while_it_holds_the_lock(folder):
    assert folder.runner() is None
    with folder.held():
        assert folder.runner() == os.getpid()
    assert folder.runner() is None


def test_it_lies_beside_the_file_and_hides_from_git(folder, jobs_folder):
    assert folder.root == jobs_folder.run
    assert (jobs_folder.root / ".rocm3d" / ".gitignore").read_text() == "*\n"
    assert run_folder(jobs_folder.root / "jobs.toml", jobs_folder.root / "other").root == jobs_folder.root / "other"
