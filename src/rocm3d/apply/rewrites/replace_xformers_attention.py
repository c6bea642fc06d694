"""Replaces attention of xformers by torch's on ROCm, where xformers is not imported.

Parameters: package, calls (supported functions), refuse_keywords.
"""

from __future__ import annotations

from rocm3d.apply.package_use import ReplacedPackage, replace_import
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An unconditional import becomes a choice by backend; one in a try, a condition or a function stays unchanged."""
    (package_name,) = list_parameter(parameters, "package")
    return replace_import(
        data,
        ReplacedPackage(
            package_name, list_parameter(parameters, "calls"), list_parameter(parameters, "refuse_keywords")
        ),
    )
