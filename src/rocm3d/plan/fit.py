"""Whether a route fits a stack and a GPU; if not, the first reason why, and what it would take."""

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
    """Why a route cannot be taken here."""

    reason: str
    would_need: str


def misfit(route: Route, stack: Stack, gpu: Gpu) -> Misfit | None:
    """None where the route can be taken here."""
    for what, wanted, given in (
        ("ROCm", route.rocm, stack.rocm),
        ("torch", route.torch, stack.torch),
        ("Python", route.python, stack.python),
    ):
        if wanted and not SpecifierSet(wanted).contains(given, prereleases=True):
            return Misfit(f"needs {what} {wanted}; this stack has {given}", f"a stack with {what} {wanted}")
    if route.gfx and gpu.gfx not in route.gfx:
        return Misfit(f"serves {', '.join(route.gfx)}; this GPU is {gpu.gfx}", f"a report from {gpu.gfx}")
    if route.products and gpu.product not in route.products:
        return Misfit(f"serves {', '.join(route.products)}; this GPU is {gpu.product}", "one of those products")
    return _moved(route, stack)


def _moved(route: Route, stack: Stack) -> Misfit | None:
    """A route that puts another torch in place breaks everything that was built for the one of the stack."""
    wanted = route.moves.get("torch")
    if wanted is None or SpecifierSet(f"=={wanted}").contains(stack.torch, prereleases=True):
        return None
    return Misfit(f"moves torch to {wanted}; this stack has {stack.torch}", f"a stack with torch {wanted}")
