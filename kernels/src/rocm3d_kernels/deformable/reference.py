"""Multi-scale deformable attention in plain PyTorch: four corners of each sample, gathered and weighted.

Zhu, Su, Lu, Li, Wang, Dai, Deformable DETR: Deformable Transformers for End-to-End Object Detection, 2021.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch


def attend(
    value: torch.Tensor,  # [N, S, M, D]
    shapes: torch.Tensor,  # [L, 2]: height, width
    starts: torch.Tensor,  # [L]
    locations: torch.Tensor,  # [N, Q, M, L, P, 2]: x, y, from 0 to 1 over the level
    weights: torch.Tensor,  # [N, Q, M, L, P]
) -> torch.Tensor:
    """[N, Q, M * D], in the dtype of the values. float16 and bfloat16 are computed in float32."""
    batch, _, heads, channels = value.shape
    exact = torch.promote_types(value.dtype, torch.float32)
    result = torch.zeros((batch, locations.shape[1], heads, channels), dtype=exact, device=value.device)
    for level, ((height, width), start) in enumerate(zip(shapes.tolist(), starts.tolist(), strict=True)):
        picture = value[:, start : start + height * width].to(exact)
        scale = weights[:, :, :, level].to(exact)
        for corner in corners(locations[:, :, :, level].to(exact), height, width):
            found = picture[_places(corner.index)] * (corner.factor * scale)[..., None]
            result = result + torch.where(corner.there[..., None], found, 0.0).sum(dim=3)
    return result.reshape(batch, locations.shape[1], heads * channels).to(value.dtype)


class Corner(NamedTuple):
    """One of the four pixels around each sample, all [N, Q, M, P].

    Pixel index, whether it is inside the level, its bilinear factor, and the factor's derivatives by x and y.
    """

    index: torch.Tensor
    there: torch.Tensor
    factor: torch.Tensor
    by_x: torch.Tensor
    by_y: torch.Tensor


def corners(places: torch.Tensor, height: int, width: int) -> Iterator[Corner]:
    """Bilinear between pixel centres; zero outside the level and at locations that are not finite."""
    if height * width == 0:
        return
    x, y = places[..., 0] * width - 0.5, places[..., 1] * height - 0.5
    near = (x > -1) & (x < width) & (y > -1) & (y < height)
    x, y = torch.where(near, x, 0.0), torch.where(near, y, 0.0)
    left, top = x.floor().detach(), y.floor().detach()
    for down in (0, 1):
        for right in (0, 1):
            column, line = left.long() + right, top.long() + down
            there = near & (column >= 0) & (column < width) & (line >= 0) & (line < height)
            along, across = (x - left if right else 1 - (x - left)), (y - top if down else 1 - (y - top))
            index = torch.where(there, line * width + column, 0)
            by_x, by_y = across * (width if right else -width), along * (height if down else -height)
            yield Corner(index, there, along * across, by_x, by_y)


def _places(index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pixel indices [N, Q, M, P] as an advanced index into [N, S, M, D]."""
    batch = torch.arange(index.shape[0], device=index.device)[:, None, None, None]
    return batch, index, torch.arange(index.shape[2], device=index.device)[None, None, :, None]


def gradients(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    given: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of values, locations and weights; explicit, since autograd is off inside a custom operator."""
    exact = torch.promote_types(value.dtype, torch.float32)
    slope = given.to(exact).reshape(*locations.shape[:3], 1, value.shape[3])
    of_value, of_locations, of_weights = (torch.zeros_like(one, dtype=exact) for one in (value, locations, weights))
    for level, ((height, width), start) in enumerate(zip(shapes.tolist(), starts.tolist(), strict=True)):
        picture = value[:, start : start + height * width].to(exact)
        to_picture = of_value[:, start : start + height * width]
        scale = weights[:, :, :, level].to(exact)
        for corner in corners(locations[:, :, :, level].to(exact), height, width):
            pixels = torch.where(corner.there[..., None], picture[_places(corner.index)], 0.0)
            product = (pixels * slope).sum(dim=-1)
            of_weights[:, :, :, level] += corner.factor * product
            of_locations[:, :, :, level] += torch.stack((corner.by_x, corner.by_y), -1) * (scale * product)[..., None]
            part = torch.where(corner.there, corner.factor * scale, 0.0)[..., None] * slope
            to_picture.index_put_(_places(corner.index), part, accumulate=True)
    return of_value.to(value.dtype), of_locations.to(locations.dtype), of_weights.to(weights.dtype)
