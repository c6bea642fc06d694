from __future__ import annotations

import pytest

import rocm3d_kernels
from rocm3d_kernels.operation_checks import operations
from tests.device import DEVICE, torch


def test_operations_are_found():
    assert {"knn", "ssim"} <= set(operations())


@pytest.mark.usefixtures("reference_on_cpu")
def test_checks_match_float64(tolerance):
    """Operations that have no such test of their own."""
    names = ("adam", "knn", "ssim")
    results = [item for item in rocm3d_kernels.checks(DEVICE) if item[0].startswith(names)]

    assert {item[0].split()[0] for item in results} == set(names)
    for _, call, expected, name in results:
        torch.testing.assert_close(call().double().cpu(), expected, **tolerance[name])
