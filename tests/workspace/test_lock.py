from __future__ import annotations

import subprocess
import sys
import time

import pytest

from rocm3d.model.failure import UserError
from rocm3d.workspace.lock import alone


def test_a_lock_that_somebody_holds_is_waited_for_and_then_told(tmp_path):
    with (
        alone(tmp_path / "a.json"),
        pytest.raises(UserError, match=r"another rocm3d has held .*a\.json\.lock"),
        alone(tmp_path / "a.json", seconds=0.05),
    ):
        raise AssertionError("two at once")


def test_a_lock_goes_with_the_process_that_held_it(tmp_path):
    hold = (
        "import os, sys, pathlib\nfrom rocm3d.workspace.lock import alone\n"
        "with alone(pathlib.Path(sys.argv[1])):\n    os._exit(9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", hold, tmp_path / "a.json"], check=False)

    assert ended.returncode == 9
    with alone(tmp_path / "a.json", seconds=0.05):
        assert (tmp_path / "a.json.lock").is_file()


def test_it_is_free_again_afterwards(tmp_path):
    for _ in range(2):
        with alone(tmp_path / "a.json", seconds=0.05):
            pass

    assert [path.name for path in tmp_path.iterdir()] == ["a.json.lock"]


def test_a_second_one_waits_for_the_first(tmp_path):
    """The lock is real: two processes at once, one after the other."""
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from rocm3d.workspace.lock import alone\n"
        "with alone(Path(sys.argv[1])):\n"
        "    print(time.monotonic(), flush=True); time.sleep(0.5); print(time.monotonic(), flush=True)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "lock")]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    spans = sorted(tuple(float(line) for line in child.communicate()[0].split()) for child in children)

    assert spans[0][1] <= spans[1][0]
    assert time.monotonic() > spans[1][1]
