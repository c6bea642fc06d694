"""Checks of ssim for `rocm3d smoke`: value and gradient against float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.ssim import reference, ssim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check


def checks(device: torch.device | str) -> Iterator[Check]:
    """Uses an image whose size divides no tile."""
    generator = torch.Generator().manual_seed(1)
    first = torch.rand(1, 3, 71, 203, generator=generator)
    second = (first + 0.1 * torch.randn(first.shape, generator=generator)).clamp(0, 1)
    image, target = first.to(device).requires_grad_(), second.to(device)
    exact_image = first.double().requires_grad_()
    value = reference.ssim(exact_image, second.double())
    # The gradient of the sum: that of the mean is too small for an absolute tolerance.
    scale = first.numel()
    gradient = torch.autograd.grad(value * scale, exact_image)[0]
    yield "ssim", lambda: ssim(image, target), value.detach(), "float32-ssim"
    yield "ssim gradient", lambda: torch.autograd.grad(ssim(image, target) * scale, image)[0], gradient, "float32-ssim"
