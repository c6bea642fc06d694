"""Portable kernels for 3D repositories: Triton on the GPU, plain PyTorch as the reference.

Importing this package imports neither torch nor triton; each operation is a subpackage that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocm3d_kernels.dispatch import Dispatch, last_dispatch
    from rocm3d_kernels.operation_checks import checks

__version__ = "0.1.0"
__all__ = ["Dispatch", "checks", "last_dispatch"]

_LAZY_MODULES = {"Dispatch": "dispatch", "checks": "operation_checks", "last_dispatch": "dispatch"}


def __getattr__(name: str) -> Any:
    """Loads names that need torch on first access."""
    if name not in _LAZY_MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    value = getattr(import_module(f"{__name__}.{_LAZY_MODULES[name]}"), name)
    globals()[name] = value
    return value
