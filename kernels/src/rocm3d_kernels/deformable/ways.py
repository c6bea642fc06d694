"""Selects the implementation for given shapes and dtypes, cached: a kernel may be faster than the selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from rocm3d_kernels.deformable import reference
from rocm3d_kernels.deformable.arguments import DTYPES, REFERENCE, check, check_levels
from rocm3d_kernels.dispatch import Dispatch, choose, environment, last_dispatch, record_dispatch
from rocm3d_kernels.tuning import on_override

Gradients = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
MOST = 256


class Way(NamedTuple):
    """Functions for contiguous tensors of fixed shapes, dtypes and devices."""

    taken: Dispatch | None
    attend: Callable[..., torch.Tensor]
    gradients: Callable[..., Gradients]
    on_cpu: bool


_WAYS: dict[tuple[Any, ...], Way] = {}
on_override(_WAYS.clear)


def found(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> Way:
    """The cached implementation; records the dispatch. Raises if the arguments are invalid."""
    key = (
        value.shape, shapes.shape, starts.shape, locations.shape, weights.shape,
        value.dtype, shapes.dtype, starts.dtype, locations.dtype, weights.dtype,
        value.device, shapes.device, starts.device, locations.device, weights.device, environment(),
    )  # fmt: skip
    way = _WAYS.get(key)
    if way is None:
        way = _made(value, shapes, starts, locations, weights)
        if len(_WAYS) >= MOST:
            _WAYS.clear()
        _WAYS[key] = way
    elif way.taken is not None:
        record_dispatch(way.taken)
    if way.on_cpu:
        check_levels(shapes, starts, value.shape[1])
    return way


def _made(*given: torch.Tensor) -> Way:
    check(*given)
    implementation = choose("deformable", *given, kernel=DTYPES, reference=REFERENCE)
    value, _, _, locations, weights = given
    taken, on_cpu = last_dispatch(), value.device.type == "cpu"
    if not (value.numel() and weights.numel()):
        return Way(taken, _nothing, _no_gradients, on_cpu)
    if implementation == "reference":
        return Way(taken, reference.attend, reference.gradients, on_cpu)
    from rocm3d_kernels.deformable.launch import Kernels  # noqa: PLC0415

    kernels = Kernels(value.shape, locations.shape, value.device)
    return Way(taken, kernels.attend, kernels.gradients, on_cpu)


def _nothing(value: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    return value.new_zeros((value.shape[0], others[2].shape[1], value.shape[2] * value.shape[3]))


def _no_gradients(value: torch.Tensor, *others: torch.Tensor) -> Gradients:
    return torch.zeros_like(value), torch.zeros_like(others[2]), torch.zeros_like(others[3])
