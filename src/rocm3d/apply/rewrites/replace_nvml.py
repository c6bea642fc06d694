"""Replaces NVML by torch on ROCm, where NVML is not imported.

Parameters: package, calls (supported functions).
"""

from __future__ import annotations

from rocm3d.apply.package_use import ReplacedPackage, replace_import
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An unconditional import becomes a choice by backend; a use of NVML that torch cannot replace is refused."""
    (package_name,) = list_parameter(parameters, "package")
    return replace_import(data, ReplacedPackage(package_name, list_parameter(parameters, "calls"), ()))
