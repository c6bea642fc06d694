from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "clean_up.py"


def keeper(mark: str, folder: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-I", SCRIPT, mark, folder], stdin=subprocess.PIPE)


def test_while_the_other_process_lives_nothing_is_touched(tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    child = keeper("none", folder)
    time.sleep(0.3)

    assert folder.is_dir()
    child.kill()
    child.wait()
    child.stdin.close()


def test_at_its_end_marked_processes_and_the_folder_go_and_others_stay(tmp_path):
    folder = tmp_path / "f"
    (folder / "deep").mkdir(parents=True)
    marked = subprocess.Popen(["sleep", "60"], env={**os.environ, "ROCM3D_KEPT_BY": "mark-of-this-test"})
    other = subprocess.Popen(["sleep", "60"])
    child = keeper("mark-of-this-test", folder)

    child.stdin.close()

    assert marked.wait(timeout=20) < 0
    assert child.wait(timeout=20) == 0
    assert not folder.exists()
    assert other.poll() is None
    other.kill()
    other.wait()
