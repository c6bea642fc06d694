"""diff_gaussian_rasterization: GaussianRasterizationSettings and GaussianRasterizer.

Forks of the original return different tuples under one name. If the settings contain `antialiasing`, as in current
training code, an image of inverse depths is returned too. If they contain `projmatrix_raw`, or with `theta` and `rho`,
depth, alpha and touched pixels are returned too, and the camera pose gets gradients, as in the fork that SLAM programs
use. ROCM3D_DIFF_GAUSSIAN_RASTERIZATION=depth-alpha returns depth and alpha too, as in the fork that generative
repositories use.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import torch

from rocm3d_kernels.arguments import check_alike, check_shape, check_tensors
from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization import pose
from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization.arguments import (
    OP,
    Arguments,
    Camera,
    check_settings,
    check_tensor_arguments,
)
from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization.optimizer import SparseGaussianAdam
from rocm3d_kernels.gaussian.arguments import contiguous
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.gaussian.render_dispatch import rasterize
from rocm3d_kernels.projection import CameraSettings, Gaussians

__all__ = ["GaussianRasterizationSettings", "GaussianRasterizer", "SparseGaussianAdam", "rasterize_gaussians"]

VARIANT = "ROCM3D_DIFF_GAUSSIAN_RASTERIZATION"
VARIANTS = ("", "depth-alpha")
POSE = "pose"
# The original's image formation where it differs from ours: smallest depth drawn, largest alpha.
NEAR = 0.2
MAX_ALPHA = 0.99


class GaussianRasterizationSettings(NamedTuple):
    """Camera and image; matrices are transposed, as in the original."""

    image_height: int
    image_width: int
    tanfovx: float
    tanfovy: float
    bg: torch.Tensor
    scale_modifier: float
    viewmatrix: torch.Tensor
    projmatrix: torch.Tensor
    sh_degree: int
    campos: torch.Tensor
    prefiltered: bool
    debug: bool = False
    antialiasing: bool | None = None
    projmatrix_raw: torch.Tensor | None = None


class GaussianRasterizer(torch.nn.Module):
    """Renders Gaussians with fixed settings."""

    def __init__(self, raster_settings: GaussianRasterizationSettings) -> None:
        super().__init__()
        self.raster_settings = raster_settings

    def markVisible(self, positions: torch.Tensor) -> torch.Tensor:  # noqa: N802  (the original's name)
        """Whether each position [N, 3] is in front of the camera."""
        view = self.raster_settings.viewmatrix
        check_tensors(OP, {"positions": positions, "viewmatrix": view})
        check_shape(OP, "viewmatrix", view, (4, 4))
        if positions.dim() != 2 or positions.shape[1] != 3:
            raise ValueError(f"{OP}: positions must be [N, 3], not {tuple(positions.shape)}")
        check_alike(OP, {"positions": positions, "viewmatrix": view})
        with torch.no_grad():
            return positions @ view[:3, 2] + view[3, 2] > NEAR

    def forward(
        self,
        means3D: torch.Tensor,
        means2D: torch.Tensor,
        opacities: torch.Tensor,
        shs: torch.Tensor | None = None,
        colors_precomp: torch.Tensor | None = None,
        scales: torch.Tensor | None = None,
        rotations: torch.Tensor | None = None,
        cov3D_precomp: torch.Tensor | None = None,
        theta: torch.Tensor | None = None,
        rho: torch.Tensor | None = None,
        dc: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, ...]:
        """The image [3, height, width], radii [N], and the additional outputs of the variant."""
        return rasterize_gaussians(
            means3D, means2D, shs, colors_precomp, opacities, scales, rotations, cov3D_precomp, self.raster_settings,
            theta=theta, rho=rho, dc=dc,
        )  # fmt: skip


def rasterize_gaussians(
    means3D: torch.Tensor,
    means2D: torch.Tensor,
    sh: torch.Tensor | None,
    colors_precomp: torch.Tensor | None,
    opacities: torch.Tensor,
    scales: torch.Tensor | None,
    rotations: torch.Tensor | None,
    cov3Ds_precomp: torch.Tensor | None,
    raster_settings: GaussianRasterizationSettings,
    *,
    theta: torch.Tensor | None = None,
    rho: torch.Tensor | None = None,
    dc: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    """The original's function; an empty tensor means None. `dc` holds the coefficients of degree 0 separately."""
    checked = check_tensor_arguments(
        {
            "means3D": means3D, "means2D": means2D, "shs": sh, "colors_precomp": colors_precomp, "opacities": opacities,
            "scales": scales, "rotations": rotations, "cov3D_precomp": cov3Ds_precomp, "dc": dc,
        }
    )  # fmt: skip
    camera = check_settings(raster_settings, checked)
    variant = os.environ.get(VARIANT, "")
    if variant not in VARIANTS:
        raise ValueError(f"{VARIANT} is {variant!r}; set it to {' or '.join(filter(None, VARIANTS))}, or unset it")
    theta, rho = (None if one is None or one.numel() == 0 else one for one in pose.check_motion(theta, rho, means3D))
    view, has_motion = raster_settings.viewmatrix.T, theta is not None or rho is not None
    if has_motion:
        view = pose.connect_motion(view, theta, rho)
    if has_motion or raster_settings.projmatrix_raw is not None:
        variant = POSE
    return _render(checked, view, raster_settings, camera, variant)


def _render(
    tensors: Arguments, view: torch.Tensor, raster_settings: GaussianRasterizationSettings, camera: Camera, variant: str
) -> tuple[torch.Tensor, ...]:
    width, height, harmonics = camera.width, camera.height, tensors.harmonics
    inverse_depths = raster_settings.antialiasing is not None and variant != POSE
    settings = CameraSettings(width, height, near=NEAR, compensate=bool(raster_settings.antialiasing))
    options = RenderOptions(
        settings, None if harmonics is None else int(raster_settings.sh_degree),
        with_depths=inverse_depths or bool(variant), inverse_depths=inverse_depths, cap=MAX_ALPHA,
    )  # fmt: skip
    scales = tensors.scales
    if scales is not None and camera.scale_modifier != 1.0:
        scales = scales * camera.scale_modifier
    everything = Gaussians(
        tensors.means, tensors.covars, tensors.rotations, scales, tensors.opacities, view[None],
        _intrinsics(raster_settings, camera, tensors.means)[None],
    )  # fmt: skip
    colors = tensors.colors if harmonics is None else harmonics
    assert colors is not None
    everything, colors, background = contiguous(everything, colors, raster_settings.bg[None], options)
    pixels = None
    if tensors.means2d is not None:
        # The original's gradient of these points is in units of half the image size.
        pixels = tensors.means2d * tensors.means2d.new_tensor([0.5 * width, 0.5 * height])
    image, alphas, meta = rasterize(everything, colors, background, options, watched=pixels)
    rgb, depth = image[0, ..., :3].permute(2, 0, 1), image[0, ..., 3:].permute(2, 0, 1)
    radii = _round_radii(meta)
    if variant == POSE:
        return rgb, radii, depth, alphas, pose.touched(meta, width, height, MAX_ALPHA)
    if variant == "depth-alpha":
        return rgb, radii, depth, alphas
    return (rgb, radii, depth) if inverse_depths else (rgb, radii)


def _intrinsics(raster_settings: GaussianRasterizationSettings, camera: Camera, like: torch.Tensor) -> torch.Tensor:
    width, height = camera.width, camera.height
    if raster_settings.projmatrix_raw is not None:
        return pose.intrinsics(raster_settings.projmatrix_raw.to(like), width, height)
    focal = (width / (2.0 * camera.tanfovx), height / (2.0 * camera.tanfovy))
    return like.new_tensor([[focal[0], 0.0, width / 2.0], [0.0, focal[1], height / 2.0], [0.0, 0.0, 1.0]])


def _round_radii(meta: dict[str, Any]) -> torch.Tensor:
    """Three standard deviations along the longest axis, in whole pixels; zero for Gaussians that are not visible."""
    with torch.no_grad():
        a, b, c = meta["conics"][0].unbind(-1)
        determinant = 1.0 / (a * c - b * b).clamp_min(1e-20)
        middle = 0.5 * (a + c) * determinant
        longest = middle + (middle * middle - determinant).clamp_min(0.1).sqrt()
        is_visible = (meta["radii"][0] > 0).all(dim=-1)
        return torch.where(is_visible, (3.0 * longest.sqrt()).ceil(), 0.0).int()
