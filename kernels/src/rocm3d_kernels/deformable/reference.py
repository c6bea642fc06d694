"""Multi-scale deformable attention in plain PyTorch: four corners of each sample, gathered and weighted.

Zhu, Su, Lu, Li, Wang, Dai, Deformable DETR: Deformable Transformers for End-to-End Object Detection, 2021.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch


def forward(
    value: torch.Tensor,  # [N, S, M, D]
    shapes: torch.Tensor,  # [L, 2]: height, width
    starts: torch.Tensor,  # [L]
    locations: torch.Tensor,  # [N, Q, M, L, P, 2]: x, y, from 0 to 1 over the level
    weights: torch.Tensor,  # [N, Q, M, L, P]
) -> torch.Tensor:
    """[N, Q, M * D], in the dtype of the values. float16 and bfloat16 are computed in float32."""
    batch, _, heads, channels = value.shape
    dtype = torch.promote_types(value.dtype, torch.float32)
    result = torch.zeros((batch, locations.shape[1], heads, channels), dtype=dtype, device=value.device)
    for level, ((height, width), start) in enumerate(zip(shapes.tolist(), starts.tolist(), strict=True)):
        level_values = value[:, start : start + height * width].to(dtype)
        scale = weights[:, :, :, level].to(dtype)
        for corner in corners(locations[:, :, :, level].to(dtype), height, width):
            samples = level_values[_pixel_index(corner.index)] * (corner.factor * scale)[..., None]
            result = result + torch.where(corner.is_inside[..., None], samples, 0.0).sum(dim=3)
    return result.reshape(batch, locations.shape[1], heads * channels).to(value.dtype)


class Corner(NamedTuple):
    """One of the four pixels around each sample, all [N, Q, M, P].

    Pixel index, whether it is inside the level, its bilinear factor, and the factor's derivatives by x and y.
    """

    index: torch.Tensor
    is_inside: torch.Tensor
    factor: torch.Tensor
    factor_dx: torch.Tensor
    factor_dy: torch.Tensor


def corners(locations: torch.Tensor, height: int, width: int) -> Iterator[Corner]:
    """Bilinear between pixel centres; zero outside the level and at locations that are not finite."""
    if height * width == 0:
        return
    x, y = locations[..., 0] * width - 0.5, locations[..., 1] * height - 0.5
    near = (x > -1) & (x < width) & (y > -1) & (y < height)
    x, y = torch.where(near, x, 0.0), torch.where(near, y, 0.0)
    left, top = x.floor().detach(), y.floor().detach()
    for down in (0, 1):
        for right in (0, 1):
            column, row = left.long() + right, top.long() + down
            is_inside = near & (column >= 0) & (column < width) & (row >= 0) & (row < height)
            x_factor, y_factor = (x - left if right else 1 - (x - left)), (y - top if down else 1 - (y - top))
            index = torch.where(is_inside, row * width + column, 0)
            factor_dx, factor_dy = y_factor * (width if right else -width), x_factor * (height if down else -height)
            yield Corner(index, is_inside, x_factor * y_factor, factor_dx, factor_dy)


def _pixel_index(index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pixel indices [N, Q, M, P] as an advanced index into [N, S, M, D]."""
    batch = torch.arange(index.shape[0], device=index.device)[:, None, None, None]
    return batch, index, torch.arange(index.shape[2], device=index.device)[None, None, :, None]


def gradients(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    grad_output: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of values, locations and weights; explicit, since autograd is off inside a custom operator."""
    dtype = torch.promote_types(value.dtype, torch.float32)
    grad = grad_output.to(dtype).reshape(*locations.shape[:3], 1, value.shape[3])
    grad_value, grad_locations, grad_weights = (
        torch.zeros_like(one, dtype=dtype) for one in (value, locations, weights)
    )
    for level, ((height, width), start) in enumerate(zip(shapes.tolist(), starts.tolist(), strict=True)):
        level_values = value[:, start : start + height * width].to(dtype)
        level_grad = grad_value[:, start : start + height * width]
        scale = weights[:, :, :, level].to(dtype)
        for corner in corners(locations[:, :, :, level].to(dtype), height, width):
            pixels = torch.where(corner.is_inside[..., None], level_values[_pixel_index(corner.index)], 0.0)
            product = (pixels * grad).sum(dim=-1)
            grad_weights[:, :, :, level] += corner.factor * product
            grad_locations[:, :, :, level] += (
                torch.stack((corner.factor_dx, corner.factor_dy), -1) * (scale * product)[..., None]
            )
            contribution = torch.where(corner.is_inside, corner.factor * scale, 0.0)[..., None] * grad
            level_grad.index_put_(_pixel_index(corner.index), contribution, accumulate=True)
    return grad_value.to(value.dtype), grad_locations.to(locations.dtype), grad_weights.to(weights.dtype)
