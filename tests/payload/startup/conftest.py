from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "startup"


@pytest.fixture
def run_with_hooks(tmp_path):
    """Runs a program with the hooks; returns the finished process and the events."""

    def run(program: str, *watch: str, python: str = sys.executable, profile: bool = False, **files: str):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        report = tmp_path / "report.jsonl"
        report.unlink(missing_ok=True)
        path = os.pathsep.join((str(FOLDER), str(tmp_path)))
        settings = json.dumps({"watch": watch, "profile": profile})
        ended = subprocess.run(
            [python, "-c", program],
            env={**os.environ, "PYTHONPATH": path, "ROCM3D_RECORD": str(report), "ROCM3D_RUN": settings},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return ended, [json.loads(line) for line in report.read_text().splitlines()]

    return run


@pytest.fixture
def hooks(monkeypatch):
    """Puts the hooks on sys.path, as in a workload's interpreter."""
    monkeypatch.syspath_prepend(str(FOLDER))
