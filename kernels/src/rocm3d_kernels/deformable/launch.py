"""Starts the kernels of deformable attention."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.deformable.arguments import power
from rocm3d_kernels.deformable.triton import (
    rocm3d_deformable_backward,
    rocm3d_deformable_collect,
    rocm3d_deformable_forward,
)
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned


def forward(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Contiguous tensors as the reference takes them, none of them empty."""
    batch, places, heads, channels = value.shape
    output = value.new_empty((batch, locations.shape[1], heads * channels))
    grid, constants = _tiles("deformable_forward", value, locations)
    numbers = (locations.shape[1], places, heads)
    launch(rocm3d_deformable_forward, grid, (value, shapes, starts, locations, weights, output, *numbers), **constants)
    return output


def backward(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    given: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of values, locations and weights; the same bits each time where PyTorch is told to be deterministic."""
    add = not torch.are_deterministic_algorithms_enabled()
    to_value = torch.zeros(value.shape, dtype=torch.float32, device=value.device) if add else None
    to_locations, to_weights = torch.empty_like(locations), torch.empty_like(weights)
    keys = torch.empty((*weights.shape, 4), dtype=torch.int64, device=value.device) if not add else None
    factors = torch.empty((*weights.shape, 4), dtype=torch.float32, device=value.device) if not add else None
    grid, constants = _tiles("deformable_backward", value, locations)
    launch(
        rocm3d_deformable_backward, grid,
        (
            value, shapes, starts, locations, weights, given, to_value, to_locations, to_weights, keys, factors,
            locations.shape[1], *value.shape[1:3],
        ),
        ADD=add, **constants,
    )  # fmt: skip
    if to_value is None:
        to_value = _collected(value, given, keys, factors)
    return to_value.to(value.dtype), to_locations, to_weights


def _collected(value: torch.Tensor, given: torch.Tensor, keys: Any, factors: Any) -> torch.Tensor:
    """The summands sorted by their targets, and summed in that order."""
    batch, places, heads, channels = value.shape
    targets = batch * places * heads
    ordered = torch.sort(keys.view(-1), stable=True)
    begins = torch.searchsorted(ordered.values, torch.arange(targets + 1, device=value.device))
    result = torch.empty_like(value)
    parameters = tuned("deformable", "deformable_collect", value.device)
    block = power(channels)
    rows = max(parameters["TILE"] // block, 1)
    launch(
        rocm3d_deformable_collect, (-(-targets // rows), 1, 1),
        (ordered.indices, factors, begins, given, result, targets),
        SHARE=keys[0, 0, 0].numel(), CHANNELS=channels, CHANNEL_BLOCK=block, **parameters,
    )  # fmt: skip
    return result


def _tiles(kernel: str, value: torch.Tensor, locations: torch.Tensor) -> tuple[tuple[int, int, int], dict[str, Any]]:
    """The grid and what is known when a kernel is compiled."""
    batch, _, heads, channels = value.shape
    _, queries, _, levels, points, _ = locations.shape
    wide, deep = power(points), power(channels)
    constants = tuned("deformable", kernel, value.device)
    constants["UNROLL"] = min(constants["UNROLL"], levels)
    rows = max(constants["TILE"] // (wide * deep), 1)
    constants.update(LEVELS=levels, POINTS=points, CHANNELS=channels, POINT_BLOCK=wide, CHANNEL_BLOCK=deep)
    return (batch * heads * -(-queries // rows), 1, 1), constants
