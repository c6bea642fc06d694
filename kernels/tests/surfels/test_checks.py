from __future__ import annotations

import torch

from rocm3d_kernels.surfels.checks import checks


def test_what_is_offered_agrees(tolerance, monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    offered = list(checks("cpu"))

    assert [name for name, *_ in offered][:2] == ["surfels image", "surfels alphas"]
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double(), wanted, **tolerance[name])
