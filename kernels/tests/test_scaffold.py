"""A kernel written by scripts/new.py passes its own tests."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import rocm3d_kernels
from rocm3d_kernels import tuning
from tests.device import torch

NAME = "twice_over"
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "new_kernel.py"


def load_module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A folder with a new operation that is part of our package during the test."""
    for path, text in load_module(SCRIPT).files(NAME, tmp_path).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    package = tmp_path / "src" / "rocm3d_kernels"
    monkeypatch.setattr(rocm3d_kernels, "__path__", [*rocm3d_kernels.__path__, str(package)])
    table = json.loads((package / "tuning" / f"{NAME}.json").read_text(encoding="utf-8"))
    monkeypatch.setattr(tuning, "table", lambda op: {NAME: table}[op])
    return tmp_path


@pytest.mark.checkout("scripts/new_kernel.py")
@pytest.mark.usefixtures("poisoned")
def test_a_new_kernel_passes_its_own_tests(written, tolerance, monkeypatch):
    tests = load_module(written / "tests" / NAME / f"test_{NAME}.py")
    tests.torch = torch

    tests.test_wrong_shapes_and_dtypes_are_rejected_before_a_launch()
    for count in (0, 1, 37):
        tests.test_kernel_agrees_with_float64(count, tolerance)
    tests.test_any_strides_are_supported()
    for test in (tests.test_gradient_agrees_with_finite_differences, tests.test_checks_agree_with_the_reference):
        test(monkeypatch=monkeypatch, tolerance=tolerance)
    tests.test_operator_passes_opcheck(monkeypatch)

    gate = load_module(written / "src" / "rocm3d_kernels" / NAME / "gate.py")
    assert [item.name for item in gate.KERNELS] == [f"{NAME}_kernel"]
