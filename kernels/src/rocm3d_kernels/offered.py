"""Checks of all operations on a machine, for `rocm3d smoke`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import rocm3d_kernels

if TYPE_CHECKING:
    import torch

Check = tuple[str, Callable[[], Any], "torch.Tensor", str]


def operations() -> list[str]:
    """Names of the subpackages that hold kernels: those with a triton.py."""
    return sorted(
        found.name
        for found in pkgutil.iter_modules(rocm3d_kernels.__path__)
        if found.ispkg and find_spec(f"rocm3d_kernels.{found.name}.triton") is not None
    )


def checks(device: torch.device | str) -> Iterator[Check]:
    """Yields a name, a function to run, the reference result in float64, and the name of a tolerance."""
    # Also subpackages without kernels of their own, which combine operations.
    for found in sorted(pkgutil.iter_modules(rocm3d_kernels.__path__), key=lambda found: found.name):
        if found.ispkg and find_spec(f"rocm3d_kernels.{found.name}.checks") is not None:
            yield from import_module(f"rocm3d_kernels.{found.name}.checks").checks(device)
