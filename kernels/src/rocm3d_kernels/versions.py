"""Supported versions of torch and triton, and the errors and warnings for others."""

from __future__ import annotations

import functools
import re
import warnings
from importlib import import_module
from types import ModuleType

# First and last minor release that the tests and the AMD gate ran with, 2026-11-15.
SUPPORTED = {"torch": ((2, 11), (2, 13)), "triton": ((3, 6), (3, 9))}
INSTALL_HINT = "install torch and triton for your GPU; rocm3d-kernels installs neither, so that it never replaces yours"


class MissingRequirementError(ImportError):
    """torch or triton is missing, or too old for the kernels."""


@functools.cache
def require(name: str) -> ModuleType:
    """Imports torch or triton; warns once if it is newer than the tested versions."""
    oldest, newest = SUPPORTED[name]
    try:
        module = import_module(name)
    except ImportError as error:
        raise MissingRequirementError(
            f"rocm3d-kernels needs {name} >= {_dotted(oldest)}: {error}; {INSTALL_HINT}"
        ) from error
    version = str(getattr(module, "__version__", ""))
    installed = major_minor(version)
    if installed is None or installed < oldest:
        raise MissingRequirementError(
            f"rocm3d-kernels needs {name} >= {_dotted(oldest)}, found {version or 'unknown'}; {INSTALL_HINT}"
        )
    if installed > newest:
        warnings.warn(
            f"rocm3d-kernels was tested with {name} {_dotted(oldest)} to {_dotted(newest)}, found {version}",
            stacklevel=2,
        )
    return module


def major_minor(version: str) -> tuple[int, int] | None:
    """None if the text is not a version."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else None


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
