"""The test setup: device selection and the report of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import device, report
from tests.device import DEVICE, by_reference, plain_torch, reference_for, torch

KERNELS = Path(__file__).resolve().parents[1]


def test_device_gpu_without_a_gpu_is_a_usage_error():
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, "-m", "pytest", "--device", "gpu", "-p", "no:cacheprovider", "tests/test_versions.py"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=KERNELS, check=False)

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "finds no GPU" in done.stderr
    assert "Traceback" not in done.stderr
    assert "passed" not in done.stdout


def test_without_hypothesis_its_tests_are_not_run(python):
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from tests.properties import Phase, given, settings, some\n"
        "@settings(phases=(Phase.explicit,))\n@given(some.lists(some.integers(0, 1)))\n"
        "def test(drawn): raise AssertionError\n"
        "test(); print([mark.kwargs['reason'] for mark in test.pytestmark])"
    )

    assert "needs hypothesis" in python(program, path=[KERNELS])


def test_test_tensors_are_on_the_device():
    numbers = torch.randn(3, generator=torch.Generator().manual_seed(1), requires_grad=True)

    assert (numbers.device, numbers.is_leaf, numbers.requires_grad) == (DEVICE, True, True)
    assert torch.equal(numbers.cpu(), plain_torch.randn(3, generator=torch.Generator().manual_seed(1)))
    assert torch.zeros(1, device="cpu").device.type == "cpu"
    assert torch.Tensor is plain_torch.Tensor


@pytest.mark.usefixtures("poisoned")
def test_memory_that_nobody_wrote_is_nan():
    assert plain_torch.empty(100, device=DEVICE).isnan().all()


@pytest.mark.parametrize("enter", [by_reference, lambda: reference_for(torch.float64)])
def test_reference_is_selected_inside_the_context_only(enter, monkeypatch):
    monkeypatch.delenv("ROCM3D_KERNELS", raising=False)
    with enter():
        assert os.environ["ROCM3D_KERNELS"] == "reference"

    assert "ROCM3D_KERNELS" not in os.environ
    with reference_for(torch.float32):
        assert "ROCM3D_KERNELS" not in os.environ


def finished_report(*kernels, why=""):
    properties = [(report.LAUNCHED, list(kernels))] if kernels else []
    return SimpleNamespace(user_properties=properties, longrepr=("file", 1, f"Skipped: {why}"))


def test_a_test_that_launched_nothing_is_not_counted_as_run_on_the_gpu(monkeypatch):
    monkeypatch.setattr(device, "on_gpu", lambda: True)
    monkeypatch.setattr(report, "kernels", lambda: {"rocm3d_a", "rocm3d_b"})
    stats = {
        "passed": [finished_report("rocm3d_a"), finished_report(), finished_report("rocm3d_a")],
        "failed": [finished_report()],
        "skipped": [
            finished_report(why="interpreter only: one"),
            finished_report(why="interpreter only: two"),
            finished_report(why="needs x"),
        ],
    }

    assert report.counts(stats) == (
        "2 passed on the GPU, 1 passed without it, 1 failed, 3 not run (2 interpreter only, 1 needs x), "
        "1 of 2 kernels launched"
    )


def test_report_without_a_gpu(monkeypatch):
    monkeypatch.setattr(device, "on_gpu", lambda: False)

    assert report.counts({"passed": [finished_report()]}) == "1 passed, 0 failed, 0 not run"
