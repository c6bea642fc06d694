"""One runner at a time, and whoever it was is known."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rocm3d.jobs.folder import run_folder
from rocm3d.model.failure import MachineLacks, UserError


@pytest.fixture
def folder(yard):
    return run_folder(yard.write(""), None)


def test_a_second_runner_is_refused_and_told_who_the_first_is(folder):
    with (
        folder.held(),
        pytest.raises(UserError, match=f"process {os.getpid()} is already running"),
        folder.held(),
    ):
        pass


def test_what_a_dead_runner_left_behind_is_waited_for(folder, monkeypatch):
    code = (
        "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, 2); print('held', flush=True); time.sleep(99)"
    )
    folder.lock.write_text("999999999 1\n")
    with subprocess.Popen([sys.executable, "-c", code, folder.lock], stdout=subprocess.PIPE) as left:
        left.stdout.readline()
        monkeypatch.setattr("rocm3d.jobs.folder._LEAVING", 0.1)
        with pytest.raises(MachineLacks, match="still held by something"), folder.held():
            pass
        left.kill()
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


def test_it_lies_beside_the_file_and_hides_from_git(folder, yard):
    assert folder.root == yard.run
    assert (yard.root / ".rocm3d" / ".gitignore").read_text() == "*\n"
    assert run_folder(yard.root / "jobs.toml", yard.root / "other").root == yard.root / "other"
