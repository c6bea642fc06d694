"""Runs the tests in Triton's interpreter on the CPU or, with --device gpu, on the GPU of this machine."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests import device

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11; pytest brings this one
    import tomli as tomllib

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src"
# The source distribution has a copy; the checkout does not.
TOLERANCES = TESTS / "tolerances.toml"
IN_CHECKOUT = not TOLERANCES.is_file()
if IN_CHECKOUT:
    TOLERANCES = TESTS.parents[1] / "knowledge" / "tolerances.toml"

MARKERS = (
    "cpu_only(reason): tests Triton's interpreter or the CPU; not run with --device gpu",
    "gpu_only(reason): needs a GPU; not run with --device cpu",
    "checkout(reason): reads files of the repository outside kernels/; not run from a source distribution",
    "stand_ins: starts child processes with drop-ins; not run with a torch for CUDA",
)
torch.set_num_threads(1)


def pytest_addoption(parser):
    parser.addoption(
        "--device", choices=("cpu", "gpu", "auto"), default="cpu",
        help="cpu: kernels run in Triton's interpreter (default); gpu: on the GPU of this machine, AMD or NVIDIA; "
        "auto: gpu if the machine has one",
    )  # fmt: skip
    if importlib.util.find_spec("pytest_timeout") is None:
        parser.addini("timeout", "seconds per test; used by pytest-timeout, which is not installed")


def pytest_configure(config):
    device.choose(config.getoption("--device"))
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if device.on_gpu():
        # Any torch and Triton may be installed; their warnings are shown and fail no test.
        config.addinivalue_line("filterwarnings", "default")
    else:
        from tests import interpreter

        interpreter.repair()
        interpreter.patch_once()
    from tests import report

    config.pluginmanager.register(report, "rocm3d-report")


def pytest_collection_modifyitems(items):
    from rocm3d_kernels.dropin.torch_kind import kind

    conditions = (
        ("cpu_only", device.on_gpu(), "interpreter only"),
        ("gpu_only", not device.on_gpu(), "GPU only"),
        ("checkout", not IN_CHECKOUT, "needs the checkout"),
        ("stand_ins", kind() == "cuda", "drop-ins are off with a torch for CUDA"),
    )
    not_run = [(name, why) for name, applies, why in conditions if applies]
    for item in items:
        for name, why in not_run:
            marker = item.get_closest_marker(name)
            if marker is not None:
                item.add_marker(pytest.mark.skip(reason=": ".join((why, *marker.args))))


@pytest.fixture
def poisoned():
    """Fills uninitialised memory with NaN, so that it cannot pass for a result."""
    # On a GPU torch would also raise for its own nondeterministic operations.
    torch.use_deterministic_algorithms(True, warn_only=device.on_gpu())
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def reference_on_cpu(monkeypatch):
    """Uses the reference on the CPU, where the interpreter is slow and other tests cover the kernel."""
    if not device.on_gpu():
        monkeypatch.setenv("ROCM3D_KERNELS", "reference")


@pytest.fixture(scope="session")
def tolerance():
    """rtol and atol by name, from knowledge/tolerances.toml."""
    records = tomllib.loads(TOLERANCES.read_text(encoding="utf-8"))["tolerances"]
    return {record["id"]: {"rtol": record["rtol"], "atol": record["atol"]} for record in records}


@pytest.fixture
def python(tmp_path):
    """Runs a program in a child process without Triton's interpreter; returns its output."""

    def run(program, *options, path=(), fails=False, **variables):
        search = os.pathsep.join(filter(None, (*map(str, path), str(SOURCE), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": search, "ROCM3D_CACHE": str(tmp_path / "cache"), **variables}
        for name in ("TRITON_INTERPRET", "ROCM3D_RECORD"):
            if name not in variables:
                environment.pop(name, None)
        command = [sys.executable, *options, *(["-c", program] if program else [])]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        assert fails == (done.returncode != 0), done.stderr
        return (done.stderr if fails else done.stdout).strip()

    return run
