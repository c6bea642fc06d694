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
MAX_CACHED = 256


class Implementation(NamedTuple):
    """Functions for contiguous tensors of fixed shapes, dtypes and devices."""

    dispatch: Dispatch | None
    forward: Callable[..., torch.Tensor]
    gradients: Callable[..., Gradients]
    on_cpu: bool


_CACHE: dict[tuple[Any, ...], Implementation] = {}
on_override(_CACHE.clear)


def find_implementation(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> Implementation:
    """The cached implementation; records the dispatch. Raises if the arguments are invalid."""
    key = (
        value.shape, shapes.shape, starts.shape, locations.shape, weights.shape,
        value.dtype, shapes.dtype, starts.dtype, locations.dtype, weights.dtype,
        value.device, shapes.device, starts.device, locations.device, weights.device, environment(),
    )  # fmt: skip
    implementation = _CACHE.get(key)
    if implementation is None:
        implementation = _select_implementation(value, shapes, starts, locations, weights)
        if len(_CACHE) >= MAX_CACHED:
            _CACHE.clear()
        _CACHE[key] = implementation
    elif implementation.dispatch is not None:
        record_dispatch(implementation.dispatch)
    if implementation.on_cpu:
        check_levels(shapes, starts, value.shape[1])
    return implementation


def _select_implementation(*arguments: torch.Tensor) -> Implementation:
    check(*arguments)
    implementation = choose("deformable", *arguments, kernel=DTYPES, reference=REFERENCE)
    value, _, _, locations, weights = arguments
    dispatch, on_cpu = last_dispatch(), value.device.type == "cpu"
    if not (value.numel() and weights.numel()):
        return Implementation(dispatch, _empty_output, _zero_gradients, on_cpu)
    if implementation == "reference":
        return Implementation(dispatch, reference.forward, reference.gradients, on_cpu)
    from rocm3d_kernels.deformable.launch import DeformableKernels  # noqa: PLC0415

    kernels = DeformableKernels(value.shape, locations.shape, value.device)
    return Implementation(dispatch, kernels.forward, kernels.gradients, on_cpu)


def _empty_output(value: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    return value.new_zeros((value.shape[0], others[2].shape[1], value.shape[2] * value.shape[3]))


def _zero_gradients(value: torch.Tensor, *others: torch.Tensor) -> Gradients:
    return torch.zeros_like(value), torch.zeros_like(others[2]), torch.zeros_like(others[3])
