"""Machine check of the pixel counts: the kernel against the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.touched import ImageGaussians, reference, touched_pixels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check

WIDTH, HEIGHT, COUNT = 50, 35, 60


def checks(device: torch.device | str) -> Iterator[Check]:
    """Random opacities; a pixel at the limit may count or not, so the tolerance applies to fractions of the image."""
    numbers = torch.Generator().manual_seed(1)
    means2d = torch.rand(1, COUNT, 2, generator=numbers) * torch.tensor([WIDTH, HEIGHT])
    conics = torch.tensor([0.05, 0.0, 0.07]).expand(1, COUNT, 3)
    opacities = torch.rand(1, COUNT, generator=numbers) * 0.8 + 0.1
    depths = torch.rand(1, COUNT, generator=numbers) + 1.0
    gaussians = ImageGaussians(means2d, conics, opacities, depths, torch.full((1, COUNT, 2), 16, dtype=torch.int32))
    exact = ImageGaussians(means2d.double(), conics.double(), opacities.double(), depths.double(), gaussians.radii)
    expected = reference.touched_pixels(exact, WIDTH, HEIGHT, LARGEST_ALPHA).double()
    on_device = ImageGaussians(*(one.to(device) for one in gaussians))
    scale = WIDTH * HEIGHT
    yield (
        "touched",
        lambda: touched_pixels(on_device, WIDTH, HEIGHT).double() / scale,
        expected / scale,
        "float32-splat-forward",
    )
