"""Checks of RoPE2D for `rocm3d smoke`: rotation and its inverse against float64, in place and with strides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.rope2d import reference, rotate, rotate_

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check


def checks(device: torch.device | str) -> Iterator[Check]:
    """Uses a strided view: one third of a q, k, v projection."""
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randn(2, 77, 3, 12, 64, generator=generator)[:, :, 1]
    positions = torch.randint(0, 64, (2, 77, 2), generator=generator)
    expected = reference.rotate(tokens.double(), positions, 100.0, 1.0)
    device_tokens, device_positions = tokens.to(device), positions.to(device)
    yield "rope2d", lambda: rotate(device_tokens, device_positions), expected, "float32-rope"
    yield (
        "rope2d there and back",
        lambda: rotate_(rotate(device_tokens, device_positions), device_positions, scale=-1.0),
        tokens.double(),
        "float32-rope",
    )
