"""Whether a route fits a stack and a GPU; if not, the first reason why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from rocm3d.model.package import Route
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu


def misfit(route: Route, stack: Stack, gpu: Gpu) -> str | None:
    """None where the route can be taken here."""
    for what, wanted, given in (
        ("ROCm", route.rocm, stack.rocm),
        ("torch", route.torch, stack.torch),
        ("Python", route.python, stack.python),
    ):
        if wanted and not SpecifierSet(wanted).contains(given, prereleases=True):
            return f"needs {what} {wanted}; this stack has {given}"
    if route.gfx and gpu.gfx not in route.gfx:
        return f"serves {', '.join(route.gfx)}; this GPU is {gpu.gfx}"
    if route.products and gpu.product not in route.products:
        return f"serves {', '.join(route.products)}; this GPU is {gpu.product}"
    return None
