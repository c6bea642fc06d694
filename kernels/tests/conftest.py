"""Kernels run on the CPU here: Triton's interpreter is switched on before anybody imports it."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11; pytest brings this one
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "kernels" / "src"

settings.register_profile(
    "ci", max_examples=20, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("ci")
torch.set_num_threads(1)


@pytest.fixture
def poisoned():
    """Memory that nobody wrote is NaN, so that it cannot pass for a result."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture(scope="session")
def tolerance():
    """rtol and atol by name, out of knowledge/tolerances.toml."""
    records = tomllib.loads((ROOT / "knowledge" / "tolerances.toml").read_text(encoding="utf-8"))["tolerances"]
    return {record["id"]: {"rtol": record["rtol"], "atol": record["atol"]} for record in records}


@pytest.fixture
def python(tmp_path):
    """A program in a process of its own, without the interpreter of Triton; what it printed."""

    def run(program, *options, path=(), fails=False, **variables):
        search = os.pathsep.join(map(str, (*path, SOURCE)))
        environment = {**os.environ, "PYTHONPATH": search, "ROCM3D_CACHE": str(tmp_path / "cache"), **variables}
        for name in ("TRITON_INTERPRET", "ROCM3D_RECORD"):
            if name not in variables:
                environment.pop(name, None)
        command = [sys.executable, *options, *(["-c", program] if program else [])]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        assert fails == (done.returncode != 0), done.stderr
        return (done.stderr if fails else done.stdout).strip()

    return run
