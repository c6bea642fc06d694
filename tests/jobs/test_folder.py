"""The runner lock: one runner at a time, identified by process id and start time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from processes import Program
from waiting import wait_for_line

from rocm3d.jobs.folder import run_folder
from rocm3d.model.errors import MachineError, UserError


@pytest.fixture
def folder(jobs_folder):
    return run_folder(jobs_folder.write(""), None)


def test_second_runner_is_refused_with_the_pid_of_the_first(folder):
    with (
        folder.hold_lock(),
        pytest.raises(UserError, match=f"process {os.getpid()} is already running"),
        folder.hold_lock(),
    ):
        pass


def test_lock_waits_for_processes_of_a_dead_runner(folder, monkeypatch):
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, 2); print('held', flush=True); sys.stdin.read()"
    folder.lock.write_text("999999999 1\n")
    command, pipe = [sys.executable, "-I", "-S", "-c", code, folder.lock], subprocess.PIPE
    with Program(command, stdin=pipe, stdout=pipe, text=True) as left:
        wait_for_line(left, "held")
        monkeypatch.setattr("rocm3d.jobs.folder._LAUNCHER_EXIT_SECONDS", 0.1)
        with pytest.raises(MachineError, match="still held by a process"), folder.hold_lock():
            pass
    with folder.hold_lock() as number:
        assert os.fstat(number).st_ino == folder.lock.stat().st_ino


def test_folder_that_cannot_be_created_is_a_user_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="file"):
        run_folder(tmp_path / "jobs.toml", tmp_path / "file")


@pytest.mark.parametrize("content", ["", "x", "1 2 3", "0 0", "999999999 5", "PID 1"])
def test_stale_lock_file_means_no_runner(folder, content):
    folder.lock.write_text(content.replace("PID", str(os.getpid())))
    assert folder.runner_pid() is None


def test_the_runner_is_known_while_it_holds_the_lock(folder):
    assert folder.runner_pid() is None
    with folder.hold_lock():
        assert folder.runner_pid() == os.getpid()
    assert folder.runner_pid() is None


def test_run_folder_is_next_to_jobs_toml_and_ignored_by_git(folder, jobs_folder):
    assert folder.root == jobs_folder.run
    assert (jobs_folder.root / ".rocm3d" / ".gitignore").read_text() == "*\n"
    assert run_folder(jobs_folder.root / "jobs.toml", jobs_folder.root / "other").root == jobs_folder.root / "other"
