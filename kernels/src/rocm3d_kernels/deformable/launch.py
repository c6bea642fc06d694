"""Launches the deformable attention kernels."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.deformable.arguments import power
from rocm3d_kernels.deformable.triton import (
    rocm3d_deformable_backward,
    rocm3d_deformable_collect,
    rocm3d_deformable_forward,
)
from rocm3d_kernels.launching import PreparedLaunch, launch
from rocm3d_kernels.tuning import tuned


class Kernels:
    """Prepared launches for contiguous, non-empty tensors of fixed shapes and dtypes."""

    def __init__(self, value: torch.Size, locations: torch.Size, device: torch.device) -> None:
        self._shapes = value, locations, device
        self._result = (value[0], locations[1], value[2] * value[3])
        self._forward = _start(rocm3d_deformable_forward, "deformable_forward", *self._shapes)
        self._backward: dict[tuple[bool, torch.dtype], PreparedLaunch] = {}

    def attend(self, *given: torch.Tensor) -> torch.Tensor:
        """[N, Q, M * D], from value, shapes, starts, locations and weights."""
        output = given[0].new_empty(self._result)
        self._forward(*given, output)
        return output

    def gradients(self, *given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Gradients of values, locations and weights, from the same five tensors and the gradient of the result.

        Bitwise reproducible under torch.use_deterministic_algorithms(True).
        """
        value, _, _, locations, weights, slope = given
        add = not torch.are_deterministic_algorithms_enabled()
        start = self._backward.get((add, slope.dtype))
        if start is None:
            start = _start(rocm3d_deformable_backward, "deformable_backward", *self._shapes, ADD=add)
            self._backward[add, slope.dtype] = start
        to_locations, to_weights = torch.empty_like(locations), torch.empty_like(weights)
        to_value = keys = factors = None
        if add:
            whole = value.dtype == torch.float32
            to_value = torch.zeros_like(value) if whole else torch.zeros_like(value, dtype=torch.float32)
        else:
            keys = torch.empty((*weights.shape, 4), dtype=torch.int64, device=value.device)
            factors = torch.empty((*weights.shape, 4), dtype=torch.float32, device=value.device)
        start(*given, to_value, to_locations, to_weights, keys, factors)
        if to_value is None:
            to_value = _collected(value, slope, keys, factors)
        return to_value if to_value.dtype == value.dtype else to_value.to(value.dtype), to_locations, to_weights


def _collected(value: torch.Tensor, given: torch.Tensor, keys: Any, factors: Any) -> torch.Tensor:
    """The gradient of the values: summands sorted by target and summed in that order."""
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


def _start(
    kernel: Any, name: str, value: torch.Size, locations: torch.Size, device: torch.device, **constants: Any
) -> PreparedLaunch:
    """A prepared launch for values and locations of these shapes."""
    batch, places, heads, channels = value
    _, queries, _, levels, points, _ = locations
    wide, deep = power(points), power(channels)
    constants |= tuned("deformable", name, device)
    constants |= {"LEVELS": levels, "POINTS": points, "CHANNELS": channels, "POINT_BLOCK": wide, "CHANNEL_BLOCK": deep}
    constants["UNROLL"] = min(constants["UNROLL"], levels)
    rows = max(constants["TILE"] // (wide * deep), 1)
    grid = (batch * heads * -(-queries // rows), 1, 1)
    return PreparedLaunch(kernel, device, grid, (queries, places, heads), **constants)
