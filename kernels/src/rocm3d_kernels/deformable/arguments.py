"""Validation of the arguments of deformable attention, before a launch."""

from __future__ import annotations

import torch

DTYPES = ("float32", "float16", "bfloat16")
REFERENCE = (*DTYPES, "float64")
MOST = 2**31 - 1
# Elements of one query's tile: points times channels, each rounded up to a power of two.
WIDEST = 2**16
_INTEGERS = (torch.int64, torch.int32)
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def check(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> None:
    """Raises if shapes or dtypes are invalid; the contents of the tensors are not read."""
    if len(value.shape) != 4:
        raise ValueError(f"deformable: values must be [N, S, M, D], not {tuple(value.shape)}")
    batch, places, heads, channels = value.shape
    where = locations.shape
    if len(where) != 6 or where[5] != 2 or where[0] != batch or where[2] != heads:
        raise ValueError(
            f"deformable: locations must be [N, Q, M, L, P, 2] with N = {batch} and M = {heads} of the values, "
            f"not {tuple(where)}"
        )
    queries, levels, points = where[1], where[3], where[4]
    _shape("weights", weights, (batch, queries, heads, levels, points))
    _shape("shapes", shapes, (levels, 2))
    _shape("starts", starts, (levels,))
    _dtypes(value.dtype, shapes.dtype, starts.dtype, locations.dtype, weights.dtype)
    largest = max(places * heads * channels, queries * heads * levels * points * 2, queries * heads * channels)
    if largest > MOST:
        raise ValueError(f"deformable: {largest} elements per image are too many for 32-bit indices")
    if power(points) * power(channels) > WIDEST:
        raise ValueError(f"deformable: {points} points times {channels} channels are too many for one tile")


def check_gradient(value: torch.Tensor, locations: torch.Tensor, given: torch.Tensor) -> None:
    """Raises if the gradient does not have the shape of the result; the other tensors are valid."""
    batch, _, heads, channels = value.shape
    _shape("the result's gradient", given, (batch, locations.shape[1], heads * channels))


def _shape(name: str, found: torch.Tensor, wanted: tuple[int, ...]) -> None:
    if tuple(found.shape) != wanted:
        raise ValueError(f"deformable: {name} must have the shape {wanted}, not {tuple(found.shape)}")


def _dtypes(
    value: torch.dtype, shapes: torch.dtype, starts: torch.dtype, locations: torch.dtype, weights: torch.dtype
) -> None:
    if shapes not in _INTEGERS or starts not in _INTEGERS:
        raise TypeError(f"deformable: shapes and starts must be int64 or int32, not {shapes} and {starts}")
    allowed = (torch.float64,) if value == torch.float64 else _FLOATS
    for name, dtype in (("locations", locations), ("weights", weights)):
        if dtype not in allowed:
            raise TypeError(f"deformable: {name} of {dtype} cannot be combined with values of {value}")


def check_levels(shapes: torch.Tensor, starts: torch.Tensor, places: int) -> None:
    """Checks the contents, on the CPU only: on a GPU the kernel does it, since a check would synchronize."""
    for (height, width), start in zip(shapes.tolist(), starts.tolist(), strict=True):
        if min(height, width, start) < 0 or start + height * width > places:
            raise ValueError(
                f"deformable: a level of {height} by {width} pixels that starts at {start} exceeds the {places} values"
            )


def power(number: int) -> int:
    """The next power of two."""
    return 1 << max(number - 1, 0).bit_length()
