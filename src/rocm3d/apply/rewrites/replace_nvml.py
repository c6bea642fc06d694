"""On ROCm torch answers what a program asks of NVML, which is not imported.

Parameters: package, calls (the functions that are known).
"""

from __future__ import annotations

from rocm3d.apply.package_use import Package, replaced
from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.model.recipe import Parameters


def edit(data: bytes, parameters: Parameters) -> bytes:
    """An import that always runs becomes a choice; a use of NVML that torch cannot answer is refused."""
    (path,) = words(parameters, "package")
    return replaced(data, Package(path, words(parameters, "calls"), ()))


rewrite = Rewrite(__name__, edit)
