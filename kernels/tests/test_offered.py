from __future__ import annotations

import pytest
import torch

import rocm3d_kernels
from rocm3d_kernels.offered import operations


def test_operations_are_found():
    assert {"knn", "ssim"} <= set(operations())


@pytest.mark.parametrize("op", ["knn", "ssim"])
def test_what_is_offered_agrees(op, tolerance, monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    offered = [item for item in rocm3d_kernels.checks("cpu") if item[0].startswith(op)]

    assert offered
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double(), wanted, **tolerance[name])
