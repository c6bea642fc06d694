"""Replaces attention of xformers by torch's on ROCm, where xformers is not imported.

Parameters: package, calls (supported functions), refuse_keywords.
"""

from __future__ import annotations

from rocm3d.apply.package_use import Package, replaced
from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An unconditional import becomes a choice by backend; one in a try, a condition or a function stays unchanged."""
    (path,) = words(parameters, "package")
    return replaced(data, Package(path, words(parameters, "calls"), words(parameters, "refuse_keywords")))


rewrite = Rewrite(__name__, edit)
