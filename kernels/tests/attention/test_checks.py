from __future__ import annotations

import torch

from rocm3d_kernels.attention.checks import checks


def test_what_is_offered_agrees(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")
    offered = list(checks("cpu"))

    assert len(offered) == 2
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double(), wanted, **tolerance[name])
