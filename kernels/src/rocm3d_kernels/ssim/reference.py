"""Structural similarity in plain PyTorch: the reference that the kernels are compared with.

Wang, Bovik, Sheikh, Simoncelli, Image Quality Assessment: From Error Visibility to Structural Similarity, 2004.
"""

from __future__ import annotations

import math

import torch

SIZE, DEVIATION = 11, 1.5
C1, C2 = 0.01**2, 0.03**2
HALO = SIZE // 2

# One row of the window, in float64; the window is its outer product with itself.
_EXPONENTIALS = [math.exp(-((index - HALO) ** 2) / (2 * DEVIATION**2)) for index in range(SIZE)]
WEIGHTS = tuple(value / sum(_EXPONENTIALS) for value in _EXPONENTIALS)


def blur(images: torch.Tensor) -> torch.Tensor:
    """Every plane of [N, C, H, W] convolved with the window, zero padding."""
    weights = images.new_tensor(WEIGHTS)
    planes = images.reshape(-1, 1, *images.shape[-2:])
    planes = torch.nn.functional.conv2d(planes, weights.reshape(1, 1, 1, SIZE), padding=(0, HALO))
    planes = torch.nn.functional.conv2d(planes, weights.reshape(1, 1, SIZE, 1), padding=(HALO, 0))
    return planes.reshape(images.shape)


def similarity_map(image: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """SSIM of each pixel, [N, C, H, W]."""
    a, b = blur(image), blur(target)
    va, vb = blur(image * image) - a * a, blur(target * target) - b * b
    ab = blur(image * target) - a * b
    return ((2 * a * b + C1) * (2 * ab + C2)) / ((a * a + b * b + C1) * (va + vb + C2))


def counted_pixels(values: torch.Tensor, *, valid: bool) -> torch.Tensor:
    """The pixels that count: all, or with `valid` those whose window lies inside the image."""
    return values[..., HALO:-HALO, HALO:-HALO] if valid else values


def ssim(image: torch.Tensor, target: torch.Tensor, *, valid: bool = False) -> torch.Tensor:
    """The mean SSIM, a scalar."""
    return counted_pixels(similarity_map(image, target), valid=valid).mean()


def forward(image: torch.Tensor, target: torch.Tensor, *, valid: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean, and its derivatives [N, C, 3, H, W] by each pixel's blurred image, blurred square and blurred product,
    in the layout of the kernel."""
    a, b = blur(image), blur(target)
    va, vb = blur(image * image) - a * a, blur(target * target) - b * b
    ab = blur(image * target) - a * b
    luminance, structure = 2 * a * b + C1, 2 * ab + C2
    mean_squares, variances = a * a + b * b + C1, va + vb + C2
    maps = luminance * structure / (mean_squares * variances)
    by_square = -maps / variances
    by_product = 2 * luminance / (mean_squares * variances)
    by_mean = (
        2 * b * structure / (mean_squares * variances)
        - 2 * a * maps / mean_squares
        - 2 * a * by_square
        - b * by_product
    )
    counted = torch.zeros_like(maps)
    counted_pixels(counted, valid=valid).fill_(1)
    scale = counted / counted.sum()
    return (maps * scale).sum(), torch.stack((by_mean, by_square, by_product), dim=2) * scale[:, :, None]


def gradient(image: torch.Tensor, target: torch.Tensor, derivatives: torch.Tensor) -> torch.Tensor:
    """The gradient of the mean by the image, from the three derivative maps."""
    by_mean, by_square, by_product = (blur(part) for part in derivatives.unbind(2))
    return by_mean + 2 * image * by_square + target * by_product
