"""Launches the deformable attention kernels."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.deformable.arguments import next_power_of_two
from rocm3d_kernels.deformable.triton import (
    rocm3d_deformable_backward,
    rocm3d_deformable_collect,
    rocm3d_deformable_forward,
)
from rocm3d_kernels.launching import PreparedLaunch, launch
from rocm3d_kernels.tuning import tuned


class DeformableKernels:
    """Prepared launches for contiguous, non-empty tensors of fixed shapes and dtypes."""

    def __init__(self, value: torch.Size, locations: torch.Size, device: torch.device) -> None:
        self._shapes = value, locations, device
        self._output_shape = (value[0], locations[1], value[2] * value[3])
        self._forward = _prepared_launch(rocm3d_deformable_forward, "deformable_forward", *self._shapes)
        self._backward: dict[tuple[bool, torch.dtype], PreparedLaunch] = {}

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        """[N, Q, M * D], from value, shapes, starts, locations and weights."""
        output = tensors[0].new_empty(self._output_shape)
        self._forward(*tensors, output)
        return output

    def gradients(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Gradients of values, locations and weights, from the same five tensors and the gradient of the result.

        Bitwise reproducible under torch.use_deterministic_algorithms(True).
        """
        value, _, _, locations, weights, grad_output = tensors
        add = not torch.are_deterministic_algorithms_enabled()
        prepared = self._backward.get((add, grad_output.dtype))
        if prepared is None:
            prepared = _prepared_launch(rocm3d_deformable_backward, "deformable_backward", *self._shapes, ADD=add)
            self._backward[add, grad_output.dtype] = prepared
        grad_locations, grad_weights = torch.empty_like(locations), torch.empty_like(weights)
        grad_value = keys = factors = None
        if add:
            is_float32 = value.dtype == torch.float32
            grad_value = torch.zeros_like(value) if is_float32 else torch.zeros_like(value, dtype=torch.float32)
        else:
            keys = torch.empty((*weights.shape, 4), dtype=torch.int64, device=value.device)
            factors = torch.empty((*weights.shape, 4), dtype=torch.float32, device=value.device)
        prepared(*tensors, grad_value, grad_locations, grad_weights, keys, factors)
        if grad_value is None:
            grad_value = _collect_gradient(value, grad_output, keys, factors)
        return (
            grad_value if grad_value.dtype == value.dtype else grad_value.to(value.dtype),
            grad_locations,
            grad_weights,
        )


def _collect_gradient(value: torch.Tensor, grad_output: torch.Tensor, keys: Any, factors: Any) -> torch.Tensor:
    """The gradient of the values: summands sorted by target and summed in that order."""
    batch, pixels, heads, channels = value.shape
    targets = batch * pixels * heads
    ordered = torch.sort(keys.view(-1), stable=True)
    begins = torch.searchsorted(ordered.values, torch.arange(targets + 1, device=value.device))
    result = torch.empty_like(value)
    parameters = tuned("deformable", "deformable_collect", value.device)
    block = next_power_of_two(channels)
    rows = max(parameters["TILE"] // block, 1)
    launch(
        rocm3d_deformable_collect, (-(-targets // rows), 1, 1),
        (ordered.indices, factors, begins, grad_output, result, targets),
        SHARE=keys[0, 0, 0].numel(), CHANNELS=channels, CHANNEL_BLOCK=block, **parameters,
    )  # fmt: skip
    return result


def _prepared_launch(
    kernel: Any, name: str, value: torch.Size, locations: torch.Size, device: torch.device, **constants: Any
) -> PreparedLaunch:
    """A prepared launch for values and locations of these shapes."""
    batch, pixels, heads, channels = value
    _, queries, _, levels, points, _ = locations
    point_block, channel_block = next_power_of_two(points), next_power_of_two(channels)
    constants |= tuned("deformable", name, device)
    constants |= {
        "LEVELS": levels,
        "POINTS": points,
        "CHANNELS": channels,
        "POINT_BLOCK": point_block,
        "CHANNEL_BLOCK": channel_block,
    }
    constants["UNROLL"] = min(constants["UNROLL"], levels)
    rows = max(constants["TILE"] // (point_block * channel_block), 1)
    grid = (batch * heads * -(-queries // rows), 1, 1)
    return PreparedLaunch(kernel, device, grid, (queries, pixels, heads), **constants)
