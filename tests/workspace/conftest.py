"""Fixtures for child processes without root rights."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

# All imports come before root rights are dropped: the interpreter may be unreadable for other users.
PRELUDE = """
import os, sys
from pathlib import Path
from rocm3d.model.errors import UserError
from rocm3d.model.inventory import SkippedFile
from rocm3d.workspace import documents, journal, state, tree, writer

SkippedFile(path="a", reason="b")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
place = Path(sys.argv[1])
"""


@pytest.fixture
def reachable():
    """A folder that every user may enter; tmp_path allows only its owner."""
    with tempfile.TemporaryDirectory(prefix="rocm3d-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def run_unprivileged():
    """Runs code without root rights, with the variable `place` set, and returns its output."""

    def run(script: str, path: Path) -> str:
        finished = subprocess.run(
            [sys.executable, "-c", PRELUDE + script, str(path)], capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    return run
