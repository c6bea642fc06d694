"""On ROCm torch's attention stands for that of xformers, which is not imported.

Parameters: package, calls (the functions that are known), refuse_keywords.
"""

from __future__ import annotations

from rocm3d.apply.package_use import Package, replaced
from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An import that always runs becomes a choice; one in a try, a condition or a function is somebody's already."""
    (path,) = words(parameters, "package")
    return replaced(data, Package(path, words(parameters, "calls"), words(parameters, "refuse_keywords")))


rewrite = Rewrite(__name__, edit)
