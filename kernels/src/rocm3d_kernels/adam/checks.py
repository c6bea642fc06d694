"""Checks of Adam for `rocm3d smoke`: two steps against float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.adam import adam_step, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check

ROWS, COLUMNS = 700, 5


def checks(device: torch.device | str) -> Iterator[Check]:
    """Uses more elements than one block holds, and not a multiple of it."""
    generator = torch.Generator().manual_seed(1)
    parameter, *gradients = (torch.randn(ROWS, COLUMNS, generator=generator) for _ in range(3))
    visible = torch.rand(ROWS, generator=generator) < 0.6
    expected = parameter.double()
    mean, square = torch.zeros_like(expected), torch.zeros_like(expected)
    for gradient in gradients:
        reference.step(expected, gradient.double(), mean, square, visible, 0.01, 0.9, 0.999, 1e-8)

    def call() -> torch.Tensor:
        value = parameter.to(device, copy=True)
        first, second = torch.zeros_like(value), torch.zeros_like(value)
        for slope in gradients:
            adam_step(value, slope.to(device), first, second, visible.to(device), lr=0.01)
        return value

    yield "adam", call, expected, "float32-elementwise"
