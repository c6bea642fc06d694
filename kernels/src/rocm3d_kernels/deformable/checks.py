"""Checks of deformable attention for `rocm3d smoke`: result and gradients against float64."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.deformable import deformable_attention, gradients, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check

NAMES = ("values", "locations", "weights")


def checks(device: torch.device | str) -> Iterator[Check]:
    """Uses four levels, as object detectors do; a fifth of the samples lies outside."""
    generator = torch.Generator().manual_seed(1)
    shapes = torch.tensor(((20, 33), (10, 17), (5, 9), (3, 5)))
    starts = torch.cat((shapes.new_zeros(1), shapes.prod(1).cumsum(0)[:-1]))
    value = torch.randn(2, int(shapes.prod(1).sum()), 8, 32, generator=generator)
    # At least a sixteenth of a pixel from pixel centres, where the gradient of a location jumps.
    cells = torch.rand(2, 60, 8, 4, 4, 2, generator=generator) * 1.4 - 0.2
    size = shapes.flip(1)[:, None]
    locations = ((cells * size).floor() + 0.5625 + 0.875 * torch.rand(cells.shape, generator=generator)) / size
    weights = torch.rand(cells.shape[:-1], generator=generator) / 16
    grad_output = torch.randn(2, 60, 256, generator=generator)
    floats = (value, locations, weights, grad_output)
    exact = tuple(one.double() for one in floats)
    expected = reference.forward(exact[0], shapes, starts, exact[1], exact[2])
    expected_gradients = reference.gradients(exact[0], shapes, starts, *exact[1:])
    inputs, levels = [one.to(device) for one in floats], (shapes.to(device), starts.to(device))

    def gradient(index: int) -> torch.Tensor:
        return gradients(inputs[0], *levels, *inputs[1:])[index]

    yield (
        "deformable attention", lambda: deformable_attention(inputs[0], *levels, inputs[1], inputs[2]), expected,
        "float32-deformable-attention",
    )  # fmt: skip
    for index, name in enumerate(NAMES):
        call = functools.partial(gradient, index)
        yield (
            f"deformable attention, {name}' gradient",
            call,
            expected_gradients[index],
            "float32-deformable-attention-gradient",
        )
