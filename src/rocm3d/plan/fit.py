"""Whether a route fits a stack and a GPU; if not, the first reason, and what would make it fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from rocm3d.model.package import Route
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu


@dataclass(frozen=True)
class Misfit:
    """Why a route does not fit, and what would make it fit."""

    reason: str
    would_need: str


def misfit(route: Route, stack: Stack, gpu: Gpu) -> Misfit | None:
    """None if the route fits."""
    for what, wanted, given in (
        ("ROCm", route.rocm, stack.rocm),
        ("torch", route.torch, stack.torch),
        ("Python", route.python, stack.python),
    ):
        if wanted and not SpecifierSet(wanted).contains(given, prereleases=True):
            return Misfit(f"needs {what} {wanted}; this stack has {given}", f"a stack with {what} {wanted}")
    if route.gfx and gpu.gfx not in route.gfx:
        return Misfit(f"supports {', '.join(route.gfx)}; this GPU is {gpu.gfx}", f"a report from {gpu.gfx}")
    if route.products and gpu.product not in route.products:
        return Misfit(f"supports {', '.join(route.products)}; this GPU is {gpu.product}", "one of those products")
    return _moved(route, stack)


def _moved(route: Route, stack: Stack) -> Misfit | None:
    """A route that installs another torch breaks everything that was built for the stack's torch."""
    wanted = route.moves.get("torch")
    if wanted is None or SpecifierSet(f"=={wanted}").contains(stack.torch, prereleases=True):
        return None
    return Misfit(f"installs torch {wanted}; this stack has {stack.torch}", f"a stack with torch {wanted}")
