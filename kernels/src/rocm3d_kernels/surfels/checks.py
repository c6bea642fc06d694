"""Machine check of the surfel rendering: images and gradients against float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from rocm3d_kernels.surfels import rasterization
from rocm3d_kernels.surfels.reference import SurfelImages, draw, project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d_kernels.operation_checks import Check

WIDTH, HEIGHT, COUNT = 70, 45, 100
# Without the median: rounding may move a surfel across T = 0.5.
IMAGES = ("image", "alphas", "normals", "distortion")
DIFFERENTIATED = ("means", "quats", "scales", "opacities", "colors")


def checks(device: torch.device | str) -> Iterator[Check]:
    """The image size is a multiple of no tile size."""
    scene = _scene()
    exact = {name: one.double()[None].requires_grad_(name in DIFFERENTIATED) for name, one in scene.items()}
    shapes = (exact["means"], exact["quats"], exact["scales"], exact["opacities"])
    records, radii = project(
        *shapes, exact["viewmats"], exact["intrinsics"], (WIDTH, HEIGHT), near=0.01, far=1e10, radius_clip=0.0
    )
    expected = draw(records, radii, exact["colors"], None, (WIDTH, HEIGHT))
    for name in IMAGES:
        picture = getattr(expected, name).detach()
        # Relative to the largest entry: the distortion scales with depth.
        scale = picture.abs().max().clamp_min(1.0)
        yield (
            f"surfels {name}",
            _image_function(scene, device, name, scale.item()),
            picture / scale,
            "float32-splat-forward",
        )
    gradients = torch.autograd.grad(_loss(expected), [exact[name] for name in DIFFERENTIATED])
    for name, gradient in zip(DIFFERENTIATED, gradients, strict=True):
        largest = gradient.abs().max()
        call = _gradient_function(scene, device, name, largest.item())
        yield f"surfels gradient of {name}", call, gradient[0] / largest, "float32-splat-gradient"


def _scene() -> dict[str, torch.Tensor]:
    numbers = torch.Generator().manual_seed(1)
    views = torch.eye(4)[None].clone()
    views[:, 2, 3] = 3.0
    return {
        "means": torch.randn(COUNT, 3, generator=numbers) * 0.6,
        "quats": torch.randn(COUNT, 4, generator=numbers),
        "scales": torch.rand(COUNT, 3, generator=numbers) * 0.2 + 0.02,
        "opacities": torch.rand(COUNT, generator=numbers) * 0.8 + 0.1,
        "viewmats": views,
        "intrinsics": torch.tensor([[[60.0, 0, WIDTH / 2], [0, 62, HEIGHT / 2], [0, 0, 1]]]),
        "colors": torch.rand(COUNT, 3, generator=numbers),
    }


def _loss(drawn: Any) -> torch.Tensor:
    return drawn.image.square().sum() + drawn.normals.square().sum() + drawn.distortion.sum()


def _render(scene: dict[str, torch.Tensor], device: Any) -> tuple[SurfelImages, dict[str, torch.Tensor]]:
    """Images in the layout of the reference, and their leaves."""
    leaves = {name: one.to(device).detach().requires_grad_(name in DIFFERENTIATED) for name, one in scene.items()}
    surface = rasterization(**leaves, width=WIDTH, height=HEIGHT)
    flat = [one[..., 0] for one in (surface.alphas, surface.distortion, surface.median)]
    return SurfelImages(surface.image, flat[0], surface.normals, flat[1], flat[2]), leaves


def _image_function(scene: dict[str, torch.Tensor], device: Any, name: str, scale: float) -> Callable[[], torch.Tensor]:
    def call() -> torch.Tensor:
        picture: torch.Tensor = getattr(_render(scene, device)[0], name)
        return picture.detach() / scale

    return call


def _gradient_function(
    scene: dict[str, torch.Tensor], device: Any, name: str, scale: float
) -> Callable[[], torch.Tensor]:
    def call() -> torch.Tensor:
        drawn, leaves = _render(scene, device)
        return torch.autograd.grad(_loss(drawn), leaves[name])[0] / scale

    return call
