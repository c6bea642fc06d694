"""Machine check of the Gaussian rendering: image and gradients against float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from rocm3d_kernels.gaussian import rasterization
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.gaussian.reference import render
from rocm3d_kernels.projection import CameraSettings, Gaussians

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check

WIDTH, HEIGHT, COUNT, DEGREE = 70, 45, 120, 2


def checks(device: torch.device | str) -> Iterator[Check]:
    """The image size is a multiple of no tile size; colours are spherical harmonics."""
    scene = _scene()
    exact = [one.double().requires_grad_() for one in scene.values()]
    means, quats, scales, opacities, colors, views, intrinsics = exact
    gaussians = Gaussians(means, None, quats, scales, opacities, views, intrinsics)
    image = render(gaussians, colors, None, RenderOptions(CameraSettings(WIDTH, HEIGHT), DEGREE))[0]
    yield "gaussian", lambda: _render(scene, device)[0], image.detach(), "float32-splat-forward"
    gradients = torch.autograd.grad(image.square().sum(), exact[:5])
    for name, gradient in zip(scene, gradients, strict=False):
        # Relative to the largest entry: gradients differ by orders of magnitude.
        scale = gradient.abs().max()
        call = _gradient_function(scene, device, name, scale.item())
        yield f"gaussian gradient of {name}", call, gradient / scale, "float32-splat-gradient"


def _scene() -> dict[str, torch.Tensor]:
    numbers = torch.Generator().manual_seed(1)
    views = torch.eye(4)[None].clone()
    views[:, 2, 3] = 3.0
    return {
        "means": torch.randn(COUNT, 3, generator=numbers) * 0.6,
        "quats": torch.randn(COUNT, 4, generator=numbers),
        "scales": torch.rand(COUNT, 3, generator=numbers) * 0.2 + 0.02,
        "opacities": torch.rand(COUNT, generator=numbers) * 0.8 + 0.1,
        "colors": torch.randn(COUNT, (DEGREE + 1) ** 2, 3, generator=numbers) * 0.3,
        "viewmats": views,
        "intrinsics": torch.tensor([[[60.0, 0, WIDTH / 2], [0, 62, HEIGHT / 2], [0, 0, 1]]]),
    }


def _render(scene: dict[str, torch.Tensor], device: Any) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    leaves = {name: one.to(device).detach().requires_grad_(name != "intrinsics") for name, one in scene.items()}
    return rasterization(**leaves, width=WIDTH, height=HEIGHT, sh_degree=DEGREE)[0], leaves


def _gradient_function(scene: dict[str, torch.Tensor], device: Any, name: str, scale: float) -> Any:
    def call() -> torch.Tensor:
        image, leaves = _render(scene, device)
        return torch.autograd.grad(image.square().sum(), leaves[name])[0] / scale

    return call
