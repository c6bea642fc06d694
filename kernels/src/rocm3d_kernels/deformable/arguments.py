"""Validation of the arguments of deformable attention, before a launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from rocm3d_kernels.arguments import check_tensors

NAMES = ("value", "shapes", "starts", "locations", "weights", "grad_output")
DTYPES = ("float32", "float16", "bfloat16")
REFERENCE = (*DTYPES, "float64")
MAX_ELEMENTS = 2**31 - 1
# Elements of one query's tile: points times channels, each rounded up to a power of two.
MAX_TILE = 2**16
_INTEGERS = (torch.int64, torch.int32)
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def check_types(arguments: Sequence[Any]) -> None:
    """Raises TypeError for what is not a dense tensor."""
    # Without a dict if all is well: the kernel of a decoder is fast.
    if not all(isinstance(one, torch.Tensor) and one.layout is torch.strided for one in arguments):
        check_tensors("deformable", dict(zip(NAMES, arguments, strict=False)))


def check(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> None:
    """Raises if shapes or dtypes are invalid; the contents of the tensors are not read."""
    for name, one in zip(NAMES, (value, shapes, starts, locations, weights), strict=False):
        if one.device != value.device:
            raise ValueError(
                f"deformable: tensors are on different devices: value on {value.device}, {name} on {one.device}"
            )
    if not value.is_floating_point():
        raise TypeError(f"deformable: value must be {', '.join(REFERENCE)}, not {value.dtype}")
    if len(value.shape) != 4:
        raise ValueError(f"deformable: values must be [N, S, M, D], not {tuple(value.shape)}")
    batch, pixels, heads, channels = value.shape
    location_shape = locations.shape
    if len(location_shape) != 6 or location_shape[5] != 2 or location_shape[0] != batch or location_shape[2] != heads:
        raise ValueError(
            f"deformable: locations must be [N, Q, M, L, P, 2] with N = {batch} and M = {heads} of the values, "
            f"not {tuple(location_shape)}"
        )
    queries, levels, points = location_shape[1], location_shape[3], location_shape[4]
    _check_shape("weights", weights, (batch, queries, heads, levels, points))
    _check_shape("shapes", shapes, (levels, 2))
    _check_shape("starts", starts, (levels,))
    _check_dtypes(value.dtype, shapes.dtype, starts.dtype, locations.dtype, weights.dtype)
    largest = max(pixels * heads * channels, queries * heads * levels * points * 2, queries * heads * channels)
    if largest > MAX_ELEMENTS:
        raise ValueError(f"deformable: {largest} elements per image are too many for 32-bit indices")
    if next_power_of_two(points) * next_power_of_two(channels) > MAX_TILE:
        raise ValueError(f"deformable: {points} points times {channels} channels are too many for one tile")


def check_gradient(value: torch.Tensor, locations: torch.Tensor, grad_output: torch.Tensor) -> None:
    """Raises if the gradient does not have the shape of the result; the other tensors are valid."""
    batch, _, heads, channels = value.shape
    if grad_output.device != value.device or not grad_output.is_floating_point():
        raise ValueError(
            f"deformable: grad_output must be floating numbers on {value.device}, not {grad_output.dtype} on "
            f"{grad_output.device}"
        )
    _check_shape("grad_output, the result's gradient", grad_output, (batch, locations.shape[1], heads * channels))


def _check_shape(name: str, tensor: torch.Tensor, expected: tuple[int, ...]) -> None:
    if tuple(tensor.shape) != expected:
        raise ValueError(
            f"deformable: {name} must have the shape {expected} with these values and locations, "
            f"not {tuple(tensor.shape)}"
        )


def _check_dtypes(
    value: torch.dtype, shapes: torch.dtype, starts: torch.dtype, locations: torch.dtype, weights: torch.dtype
) -> None:
    if shapes not in _INTEGERS or starts not in _INTEGERS:
        raise TypeError(f"deformable: shapes and starts must be int64 or int32, not {shapes} and {starts}")
    allowed = (torch.float64,) if value == torch.float64 else _FLOATS
    for name, dtype in (("locations", locations), ("weights", weights)):
        if dtype not in allowed:
            raise TypeError(f"deformable: {name} of {dtype} cannot be combined with values of {value}")


def check_levels(shapes: torch.Tensor, starts: torch.Tensor, pixels: int) -> None:
    """Checks the contents, on the CPU only: on a GPU the kernel does it, since a check would synchronize."""
    for (height, width), start in zip(shapes.tolist(), starts.tolist(), strict=True):
        if min(height, width, start) < 0 or start + height * width > pixels:
            raise ValueError(
                f"deformable: a level of {height} by {width} pixels that starts at {start} exceeds the {pixels} values"
            )


def next_power_of_two(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length()
