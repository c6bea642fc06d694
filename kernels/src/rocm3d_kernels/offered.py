"""What there is to try on a machine: every operation's own checks, for `rocm3d smoke` and for anybody."""

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
    """Subpackages that hold kernels, by name: those with a triton.py."""
    return sorted(
        found.name
        for found in pkgutil.iter_modules(rocm3d_kernels.__path__)
        if found.ispkg and find_spec(f"rocm3d_kernels.{found.name}.triton") is not None
    )


def checks(device: torch.device | str) -> Iterator[Check]:
    """Name, a function to run, the reference's result in float64, and the name of a tolerance."""
    # Also of what is put together from operations, and has no kernels of its own.
    for found in sorted(pkgutil.iter_modules(rocm3d_kernels.__path__), key=lambda found: found.name):
        if found.ispkg and find_spec(f"rocm3d_kernels.{found.name}.checks") is not None:
            yield from import_module(f"rocm3d_kernels.{found.name}.checks").checks(device)
