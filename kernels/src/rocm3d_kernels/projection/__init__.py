"""Projects 3D Gaussians into images: means2d, conics, depths, radii."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels.registration import once_differentiable

if TYPE_CHECKING:
    from rocm3d_kernels.projection.launch import ProjectionOutputs


class CameraSettings(NamedTuple):
    """Camera options; distances in scene units, sizes in pixels."""

    width: int
    height: int
    eps2d: float = 0.3
    near: float = 0.01
    far: float = 1e10
    radius_clip: float = 0.0
    compensate: bool = False
    camera: str = "pinhole"


class Gaussians(NamedTuple):
    """Gaussians and cameras; leading dimensions are batches. Either covars (upper triangle), or quats and scales."""

    means: torch.Tensor  # [..., N, 3]
    covars: torch.Tensor | None  # [..., N, 6]
    quats: torch.Tensor | None  # [..., N, 4]
    scales: torch.Tensor | None  # [..., N, 3]
    opacities: torch.Tensor | None  # [..., N]
    viewmats: torch.Tensor  # [..., cameras, 4, 4]
    intrinsics: torch.Tensor  # [..., cameras, 3, 3]


class Projected(NamedTuple):
    """The records as three differentiable tensors."""

    means2d: torch.Tensor  # [images, N, 2]
    shapes: torch.Tensor  # [images, N, 4]: conic a, b and c, opacity
    depths: torch.Tensor  # [images, N, 2]: depth, compensation


def project(
    gaussians: Gaussians, settings: CameraSettings, *, count_tiles: bool = False
) -> tuple[ProjectionOutputs, Projected | None]:
    """Records of all Gaussians in all images; their differentiable parts, or None without gradients."""
    from rocm3d_kernels.projection import launch

    gaussians = Gaussians(*[None if one is None else one.contiguous() for one in gaussians])
    outputs = launch.forward(gaussians, settings, count_tiles=count_tiles)
    if torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in gaussians):
        return outputs, Projected(*_ProjectFunction.apply(*gaussians, settings, outputs))
    return outputs, None


def split_records(records: torch.Tensor) -> Projected:
    return Projected(records[..., 0:2], records[..., 2:6], records[..., 6:8])


class _ProjectFunction(torch.autograd.Function):
    """Connects the records, which are computed already, to their inputs."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[torch.Tensor, ...]:
        *tensors, settings, outputs = arguments
        ctx.save_for_backward(*tensors, outputs.radii)
        ctx.settings = settings
        ctx.set_materialize_grads(False)
        return tuple(split_records(outputs.records))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *v_parts: torch.Tensor | None) -> tuple[Any, ...]:
        from rocm3d_kernels.projection import launch

        *tensors, radii = ctx.saved_tensors
        grads = launch.backward(
            Gaussians(*tensors), ctx.settings, radii, v_parts, needs_viewmats=ctx.needs_input_grad[5]
        )
        return (*grads, None, None, None)
