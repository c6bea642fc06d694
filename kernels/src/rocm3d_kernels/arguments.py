"""Checks of arguments before a launch: one error that names the argument.

The contents of tensors are not read, because on a GPU that would wait for all queued work.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import torch

MAX_INT32 = 2**31 - 1
# Of the second and third dimension of a launch's grid.
MAX_GRID = 2**16 - 1
# Pixel centres are at halves; above 2**23, float32 has no halves.
MAX_SIDE = 2**23


_PLAIN_TENSORS = frozenset((torch.Tensor, torch.nn.Parameter))
_PLAIN_VALUES = frozenset((int, str, type(None)))
_MAX_KEYS = 256


class CheckedLayouts:
    """Remembers layouts that passed a check: the next rendering has the same, and takes less time than the check.

    A key holds everything that the check depends on. None, which is never remembered: tensors are missing or traced, or
    a value has an unusual type.
    """

    def __init__(self) -> None:
        self._keys: set[tuple[Any, ...]] = set()

    @staticmethod
    def key(tensors: Iterable[Any], *values: Any) -> tuple[Any, ...] | None:
        layouts: list[Any] = []
        for one in tensors:
            if one is None:
                layouts.append(None)
            elif type(one) in _PLAIN_TENSORS and one.layout is torch.strided:
                layouts.append((one.shape, one.dtype, one.device))
            else:
                return None
        if not _PLAIN_VALUES.issuperset(map(type, values)) or torch.compiler.is_compiling():
            return None
        return (*layouts, *values)

    def __contains__(self, key: tuple[Any, ...] | None) -> bool:
        return key is not None and key in self._keys

    def add(self, key: tuple[Any, ...] | None) -> None:
        if key is not None:
            if len(self._keys) >= _MAX_KEYS:
                self._keys.clear()
            self._keys.add(key)


def check_tensors(op: str, tensors: Mapping[str, Any]) -> None:
    """Raises TypeError for what is not a dense tensor; None is a missing argument."""
    for name, one in tensors.items():
        if not isinstance(one, torch.Tensor):
            raise TypeError(f"{op}: {name} must be a tensor, not {describe(one)}")
        if one.layout is not torch.strided:
            raise TypeError(f"{op}: {name} must be a dense tensor, not {one.layout}; call to_dense() first")


def check_alike(op: str, tensors: Mapping[str, torch.Tensor | None]) -> None:
    """Raises for a tensor whose dtype or device differs from that of the first, which must be floating."""
    items = iter(tensors.items())
    first, like = next(items)
    assert like is not None
    device, dtype = like.device, like.dtype
    if not dtype.is_floating_point:
        raise TypeError(f"{op}: {first} must be float32, not {dtype}")
    for name, one in items:
        if one is not None and (one.device != device or one.dtype != dtype):
            raise ValueError(
                f"{op}: all tensors must be {dtype} on {device}, like {first}; {name} is {one.dtype} on {one.device}"
            )


def check_shape(op: str, name: str, tensor: torch.Tensor | None, shape: Iterable[int], with_what: str = "") -> None:
    """Raises ValueError for another shape; None has any shape. `with_what` says where the sizes come from."""
    if tensor is not None and tensor.shape != tuple(shape):
        context = f" {with_what}" if with_what else ""
        raise ValueError(f"{op}: {name} must be {tuple(shape)}{context}, not {tuple(tensor.shape)}")


def check_integer(op: str, name: str, value: Any, least: int, most: int = MAX_INT32) -> int:
    """The value as int; TypeError for floats and flags, ValueError outside the limits."""
    number: int = value
    if type(value) is not int:
        if isinstance(value, torch.SymInt):
            return number
        try:
            number = operator.index(None if isinstance(value, bool) else value)  # type: ignore[arg-type]
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"{op}: {name} must be an integer, not {describe(value)}") from None
    if not least <= number <= most:
        raise ValueError(f"{op}: {name} is {short(number)}; it must be {least} to {most}")
    return number


def check_number(
    op: str,
    name: str,
    value: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    infinite: bool = False,
) -> float:
    """The value as float; ValueError for NaN, infinity unless `infinite`, and values outside the limits."""
    number: float = value
    if type(value) is not float:
        if isinstance(value, torch.SymFloat):
            return number
        number = _to_float(op, name, value)
    if math.isnan(number) or (math.isinf(number) and not infinite):
        raise ValueError(f"{op}: {name} is {number}; it must be a finite number")
    if number < least or (number <= above > -math.inf) or number > most:
        limits = [f"at least {least}"] if least > -math.inf else []
        limits += [f"above {above}"] if above > -math.inf else []
        limits += [f"at most {most}"] if most < math.inf else []
        raise ValueError(f"{op}: {name} is {number}; it must be {' and '.join(limits)}")
    return number


def _to_float(op: str, name: str, value: Any) -> float:
    try:
        return float(None if isinstance(value, (str, bytes)) else value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{op}: {name} must be a number, not {describe(value)}") from None


def check_image_size(
    op: str, width: Any, height: Any, *, images: int = 1, tile: int = 16, names: tuple[str, str] = ("width", "height")
) -> tuple[int, int]:
    """Width and height; raises for sizes that the kernels cannot index.

    A side ends where float32 has no pixel centres. Tiles, of the smallest side `tile`, are numbered in int32; so are
    the programs of a launch, one for each tile.
    """
    for name, side in zip(names, (width, height), strict=True):
        if isinstance(side, (int, float)) and side == 0:
            raise ValueError(f"{op}: the image is empty: {short(width)} x {short(height)} pixels; {name} is 0")
    sides = [check_integer(op, name, side, 1, MAX_SIDE) for name, side in zip(names, (width, height), strict=True)]
    tiles = images * -(-sides[0] // tile) * -(-sides[1] // tile)
    if tiles >= MAX_INT32:
        raise ValueError(
            f"{op}: {images} images of {names[0]} {sides[0]} and {names[1]} {sides[1]} have {tiles} tiles of "
            f"{tile} x {tile} pixels, the limit is {MAX_INT32 - 1}; render smaller or fewer images"
        )
    return sides[0], sides[1]


def describe(value: Any) -> str:
    """A value in an error: None, or a number or short text with its type, or its type only."""
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return f"{short(value)} ({name})" if isinstance(value, (bool, int, float, str)) else name


def short(value: Any) -> str:
    """The text of a number or string, cut after 40 characters."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
