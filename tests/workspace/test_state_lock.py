from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from processes import Program
from waiting import DEADLINE, output_of, wait_for_line

from rocm3d.model.errors import UserError
from rocm3d.workspace.state import file_lock


def test_lock_times_out_with_an_error(tmp_path):
    with (
        file_lock(tmp_path / "a.json"),
        pytest.raises(UserError, match=r"another rocm3d has held .*a\.json\.lock"),
        file_lock(tmp_path / "a.json", seconds=0.05),
    ):
        raise AssertionError("two at once")


def test_lock_ends_with_its_process(tmp_path):
    hold = (
        "import os, sys, pathlib\nfrom rocm3d.workspace.state import file_lock\n"
        "with file_lock(pathlib.Path(sys.argv[1])):\n    os._exit(9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", hold, tmp_path / "a.json"], check=False)

    assert ended.returncode == 9
    with file_lock(tmp_path / "a.json", seconds=DEADLINE):
        assert (tmp_path / "a.json.lock").is_file()


def test_lock_is_released(tmp_path):
    for _ in range(2):
        with file_lock(tmp_path / "a.json", seconds=0.05):
            pass

    assert [path.name for path in tmp_path.iterdir()] == ["a.json.lock"]


def test_second_holder_waits_for_the_first(tmp_path, monkeypatch):
    """Another process holds the lock, and exits while we wait."""
    hold = (
        "import sys, pathlib\nfrom rocm3d.workspace.state import file_lock\n"
        "with file_lock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read(); print('leaves')\n"
    )
    command, pipe = [sys.executable, "-c", hold, tmp_path / "lock"], subprocess.PIPE
    events = []
    with Program(command, stdin=pipe, stdout=pipe, text=True) as child:
        wait_for_line(child, "held")
        let_go = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: events or events.append(output_of(child)[0]))
        monkeypatch.setattr("rocm3d.workspace.state.time", let_go)
        with file_lock(tmp_path / "lock", seconds=DEADLINE):
            assert events == ["leaves\n"]
