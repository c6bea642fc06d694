"""Which torch and triton these kernels were tried with, and what is said of others."""

from __future__ import annotations

import functools
import re
import warnings
from importlib import import_module
from types import ModuleType

# First and last minor release that the tests and the AMD gate ran with, 2026-11-15.
SUPPORTED = {"torch": ((2, 11), (2, 13)), "triton": ((3, 6), (3, 9))}
REMEDY = "rocm3d-kernels installs neither, so that it replaces none of yours"


class MissingRequirement(ImportError):  # noqa: N818  (named for what it says)
    """torch or triton is not there, or too old for the kernels."""


@functools.cache
def require(name: str) -> ModuleType:
    """torch or triton, if it is there and new enough; one newer than we know of is taken with one warning."""
    oldest, newest = SUPPORTED[name]
    try:
        module = import_module(name)
    except ImportError as error:
        raise MissingRequirement(f"rocm3d-kernels needs {name} >= {_text(oldest)}: {error}; {REMEDY}") from error
    version = str(getattr(module, "__version__", ""))
    known = minor(version)
    if known is None or known < oldest:
        raise MissingRequirement(f"rocm3d-kernels needs {name} >= {_text(oldest)}, here is {version or '?'}; {REMEDY}")
    if known > newest:
        warnings.warn(
            f"rocm3d-kernels was tried with {name} {_text(oldest)} to {_text(newest)}, here is {version}", stacklevel=2
        )
    return module


def minor(version: str) -> tuple[int, int] | None:
    """Major and minor number, None where the text is no version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None


def _text(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
