from __future__ import annotations

import array
import fcntl
import os
import subprocess
import sys
import termios
from pathlib import Path

from processes import Program
from waiting import wait_for_exit, wait_until

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "clean_up.py"


def start_clean_up(mark: str, folder: Path) -> Program:
    return Program([sys.executable, "-I", SCRIPT, mark, folder], stdin=subprocess.PIPE)


def unread_bytes(pipe) -> int:
    """Number of unread bytes in a pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, count)
    return count[0]


def test_while_the_other_process_lives_nothing_is_touched(tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    with start_clean_up("none", folder) as child:
        child.stdin.write(b"x")
        child.stdin.flush()
        wait_until(lambda: not unread_bytes(child.stdin), "a process that waits for the end of its input")

        assert folder.is_dir()
        assert child.poll() is None


def test_at_its_end_marked_processes_and_the_folder_go_and_others_stay(tmp_path):
    folder = tmp_path / "f"
    (folder / "deep").mkdir(parents=True)
    environment = {**os.environ, "ROCM3D_KEPT_BY": "mark-of-this-test"}
    with (
        Program(["sleep", "3600"], env=environment) as marked,
        Program(["sleep", "3600"]) as other,
        start_clean_up("mark-of-this-test", folder) as child,
    ):
        child.stdin.close()

        assert wait_for_exit(marked) < 0
        assert wait_for_exit(child) == 0
        assert not folder.exists()
        assert other.poll() is None
