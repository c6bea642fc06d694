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
        module_info.name
        for module_info in pkgutil.iter_modules(rocm3d_kernels.__path__)
        if module_info.ispkg and find_spec(f"rocm3d_kernels.{module_info.name}.triton") is not None
    )


def checks(device: torch.device | str) -> Iterator[Check]:
    """Yields a name, a function to run, the reference result in float64, and the name of a tolerance."""
    # Also subpackages without kernels of their own, which combine operations.
    for info in sorted(pkgutil.iter_modules(rocm3d_kernels.__path__), key=lambda info: info.name):
        if info.ispkg and find_spec(f"rocm3d_kernels.{info.name}.checks") is not None:
            yield from import_module(f"rocm3d_kernels.{info.name}.checks").checks(device)
