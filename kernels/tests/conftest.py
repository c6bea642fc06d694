"""Where the tests run: in Triton's interpreter on the CPU, or with --device gpu on the GPU of this machine."""

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
# The source distribution brings a copy; there is none in the checkout.
TOLERANCES = TESTS / "tolerances.toml"
IN_CHECKOUT = not TOLERANCES.is_file()
if IN_CHECKOUT:
    TOLERANCES = TESTS.parents[1] / "knowledge" / "tolerances.toml"

MARKERS = (
    "cpu_only(reason): about Triton's interpreter or the CPU; not run with --device gpu",
    "gpu_only(reason): about a real GPU; not run with --device cpu",
    "checkout(reason): reads files of the repository beside kernels/; not run from a source distribution",
    "stand_ins: child processes in which packages are stood in for; not run with a torch for CUDA",
)
torch.set_num_threads(1)


def pytest_addoption(parser):
    parser.addoption(
        "--device", choices=("cpu", "gpu", "auto"), default="cpu",
        help="cpu: kernels run in Triton's interpreter (default); gpu: on the GPU of this machine, AMD or NVIDIA; "
        "auto: gpu where there is one",
    )  # fmt: skip
    if importlib.util.find_spec("pytest_timeout") is None:
        parser.addini("timeout", "seconds after which pytest-timeout, which is not installed, would end a test")


def pytest_configure(config):
    device.choose(config.getoption("--device"))
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if device.on_gpu():
        # Any torch and Triton may be there, with warnings of their own: they are shown and fail nothing.
        config.addinivalue_line("filterwarnings", "default")
    else:
        from tests import interpreter

        interpreter.repair()
        interpreter.patch_once()
    from tests import report

    config.pluginmanager.register(report, "rocm3d-report")


def pytest_collection_modifyitems(items):
    from rocm3d_kernels.dropin.torch_kind import kind

    here = (
        ("cpu_only", device.on_gpu(), "interpreter only"),
        ("gpu_only", not device.on_gpu(), "GPU only"),
        ("checkout", not IN_CHECKOUT, "needs the checkout"),
        ("stand_ins", kind() == "cuda", "stand-ins stay out of a torch for CUDA"),
    )
    not_run = [(name, why) for name, applies, why in here if applies]
    for item in items:
        for name, why in not_run:
            marker = item.get_closest_marker(name)
            if marker is not None:
                item.add_marker(pytest.mark.skip(reason=": ".join((why, *marker.args))))


@pytest.fixture
def poisoned():
    """Memory that nobody wrote is NaN, so that it cannot pass for a result."""
    # On a GPU torch would also raise for operations of its own that have no fixed order.
    torch.use_deterministic_algorithms(True, warn_only=device.on_gpu())
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def reference_on_cpu(monkeypatch):
    """On the CPU the reference, as the interpreter is slow and the kernel has other tests; on a GPU the kernel."""
    if not device.on_gpu():
        monkeypatch.setenv("ROCM3D_KERNELS", "reference")


@pytest.fixture(scope="session")
def tolerance():
    """rtol and atol by name, out of knowledge/tolerances.toml."""
    records = tomllib.loads(TOLERANCES.read_text(encoding="utf-8"))["tolerances"]
    return {record["id"]: {"rtol": record["rtol"], "atol": record["atol"]} for record in records}


@pytest.fixture
def python(tmp_path):
    """A program in a process of its own, without the interpreter of Triton; what it printed."""

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
