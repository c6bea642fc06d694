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
class RouteProblem:
    """Why a route does not fit, and what would make it fit."""

    reason: str
    would_need: str


def route_problem(route: Route, stack: Stack, gpu: Gpu) -> RouteProblem | None:
    """None if the route fits."""
    for component, required, available in (
        ("ROCm", route.rocm, stack.rocm),
        ("torch", route.torch, stack.torch),
        ("Python", route.python, stack.python),
    ):
        if required and not SpecifierSet(required).contains(available, prereleases=True):
            return RouteProblem(
                f"needs {component} {required}; this stack has {available}", f"a stack with {component} {required}"
            )
    if route.gfx and gpu.gfx not in route.gfx:
        return RouteProblem(f"supports {', '.join(route.gfx)}; this GPU is {gpu.gfx}", f"a report from {gpu.gfx}")
    if route.products and gpu.product not in route.products:
        return RouteProblem(f"supports {', '.join(route.products)}; this GPU is {gpu.product}", "one of those products")
    return _torch_conflict(route, stack)


def _torch_conflict(route: Route, stack: Stack) -> RouteProblem | None:
    """A route that installs another torch breaks everything that was built for the stack's torch."""
    required = route.moves.get("torch")
    if required is None or SpecifierSet(f"=={required}").contains(stack.torch, prereleases=True):
        return None
    return RouteProblem(f"installs torch {required}; this stack has {stack.torch}", f"a stack with torch {required}")
