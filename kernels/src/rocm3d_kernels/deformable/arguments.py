"""What deformable attention takes; checked before anything is launched."""

from __future__ import annotations

import functools

import torch

DTYPES = ("float32", "float16", "bfloat16")
REFERENCE = (*DTYPES, "float64")
MOST = 2**31 - 1
# Numbers of one query's tile, points times channels, each rounded up to a power of two.
WIDEST = 2**16
_INTEGERS = (torch.int64, torch.int32)
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_PLAIN = (torch.Tensor, torch.nn.Parameter)
Shape = tuple[int, ...]


def check(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    given: torch.Tensor | None = None,
) -> None:
    """Raises for what cannot be right; on a GPU what stands in `shapes` and `starts` is left to the kernel."""
    plain = type(value) in _PLAIN and not torch.compiler.is_compiling()
    # Tracers have sizes that are no numbers, which cannot be looked up.
    (_checked if plain else _checked.__wrapped__)(
        value.shape, shapes.shape, starts.shape, locations.shape, weights.shape, None if given is None else given.shape,
        value.dtype, shapes.dtype, starts.dtype, locations.dtype, weights.dtype,
    )  # fmt: skip
    if plain and value.device.type == "cpu":
        _contents(shapes, starts, value.shape[1])


@functools.lru_cache(maxsize=256)
def _checked(
    value: Shape, shapes: Shape, starts: Shape, locations: Shape, weights: Shape, given: Shape | None,
    value_dtype: torch.dtype, *dtypes: torch.dtype,
) -> None:  # fmt: skip
    """Kept: the same sizes come again and again, and the kernel may take less time than this."""
    if len(value) != 4:
        raise ValueError(f"deformable: values are [N, S, M, D], these have the shape {tuple(value)}")
    batch, places, heads, channels = value
    if len(locations) != 6 or locations[5] != 2 or locations[0] != batch or locations[2] != heads:
        raise ValueError(
            f"deformable: locations are [N, Q, M, L, P, 2] with N {batch} and M {heads} as the values have; "
            f"these have the shape {tuple(locations)}"
        )
    queries, levels, points = locations[1], locations[3], locations[4]
    _shape("weights", weights, (batch, queries, heads, levels, points))
    _shape("shapes", shapes, (levels, 2))
    _shape("starts", starts, (levels,))
    if given is not None:
        _shape("the result's gradient", given, (batch, queries, heads * channels))
    _dtypes(value_dtype, *dtypes)
    largest = max(places * heads * channels, queries * heads * levels * points * 2, queries * heads * channels)
    if largest > MOST:
        raise ValueError(f"deformable: {largest} numbers of one picture are too many for 32-bit places")
    if power(points) * power(channels) > WIDEST:
        raise ValueError(f"deformable: {points} points of {channels} channels are too many for one tile")


def _shape(name: str, found: Shape, wanted: Shape) -> None:
    if tuple(found) != wanted:
        raise ValueError(f"deformable: {name} should have the shape {wanted}, here it is {tuple(found)}")


def _dtypes(
    value: torch.dtype, shapes: torch.dtype, starts: torch.dtype, locations: torch.dtype, weights: torch.dtype
) -> None:
    if shapes not in _INTEGERS or starts not in _INTEGERS:
        raise TypeError(f"deformable: shapes and starts are integers, these are {shapes} and {starts}")
    allowed = (torch.float64,) if value == torch.float64 else _FLOATS
    for name, dtype in (("locations", locations), ("weights", weights)):
        if dtype not in allowed:
            raise TypeError(f"deformable: {name} are {dtype}, which does not go with values of {value}")


def _contents(shapes: torch.Tensor, starts: torch.Tensor, places: int) -> None:
    if shapes.device.type != "cpu" or starts.device.type != "cpu":
        return
    for (height, width), start in zip(shapes.tolist(), starts.tolist(), strict=True):
        if min(height, width, start) < 0 or start + height * width > places:
            raise ValueError(
                f"deformable: a level of {height} by {width} that begins at {start} is not within {places} places"
            )


def power(number: int) -> int:
    """The next power of two."""
    return 1 << max(number - 1, 0).bit_length()
