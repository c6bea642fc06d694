"""Replaces NVML by torch on ROCm, where NVML is not imported.

Parameters: package, calls (supported functions).
"""

from __future__ import annotations

from rocm3d.apply.package_use import Package, replaced
from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An unconditional import becomes a choice by backend; a use of NVML that torch cannot replace is refused."""
    (path,) = words(parameters, "package")
    return replaced(data, Package(path, words(parameters, "calls"), ()))


rewrite = Rewrite(__name__, edit)
