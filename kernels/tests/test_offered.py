from __future__ import annotations

import pytest

import rocm3d_kernels
from rocm3d_kernels.offered import operations
from tests.device import DEVICE, torch


def test_operations_are_found():
    assert {"knn", "ssim"} <= set(operations())


@pytest.mark.usefixtures("reference_on_cpu")
def test_what_is_offered_agrees(tolerance):
    """Operations that have no such test of their own."""
    names = ("adam", "knn", "ssim")
    offered = [item for item in rocm3d_kernels.checks(DEVICE) if item[0].startswith(names)]

    assert {item[0].split()[0] for item in offered} == set(names)
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double().cpu(), wanted, **tolerance[name])
