"""Checks and normalises the arguments of a rendering before any launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.harmonics.reference import MAX_DEGREE

if TYPE_CHECKING:
    from rocm3d_kernels.gaussian.options import RenderOptions
    from rocm3d_kernels.projection import Gaussians

# With colours, with depths, expected depth instead of accumulated depth.
MODES = {
    "RGB": (True, False, False),
    "D": (False, True, False),
    "ED": (False, True, True),
    "RGB+D": (True, True, False),
    "RGB+ED": (True, True, True),
}
CAMERA_MODELS = ("pinhole", "ortho")
MAX_CHANNELS = 512


def check_arguments(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    size: tuple[int, int],
    degree: int | None,
    mode: str,
    camera: str,
) -> None:
    """Raises ValueError for wrong shapes, dtypes, devices and modes, NotImplementedError for other camera models."""
    if mode not in MODES:
        raise ValueError(f"gaussian: render_mode is {mode!r}; allowed: {', '.join(MODES)}")
    if camera not in CAMERA_MODELS:
        raise NotImplementedError(f"gaussian: camera_model {camera!r} is not covered; use {' or '.join(CAMERA_MODELS)}")
    if min(size) < 1:
        raise ValueError(f"gaussian: the image is empty: {size[0]} x {size[1]} pixels")
    means, views = gaussians.means, gaussians.viewmats
    if means.dim() < 2 or views.dim() < 3:
        raise ValueError(
            f"gaussian: means must be [..., N, 3] and viewmats [..., C, 4, 4], not {_shapes(means, views)}"
        )
    batch, count, cameras = means.shape[:-2], means.shape[-2], views.shape[-3]
    if gaussians.covars is None and (gaussians.quats is None or gaussians.scales is None):
        raise ValueError("gaussian: pass either covars, or quats and scales")
    _check_shape("means", means, (*batch, count, 3))
    _check_shape("quats", gaussians.quats, (*batch, count, 4))
    _check_shape("scales", gaussians.scales, (*batch, count, 3))
    _check_shape("covars", gaussians.covars, (*batch, count, 6))
    _check_shape("opacities", gaussians.opacities, (*batch, count))
    _check_shape("viewmats", views, (*batch, cameras, 4, 4))
    _check_shape("intrinsics", gaussians.intrinsics, (*batch, cameras, 3, 3))
    channels = _check_colors(colors, (batch, count, cameras), degree) if MODES[mode][0] else 0
    if backgrounds is not None:
        _check_shape("backgrounds", backgrounds, (*batch, cameras, channels))
    device, dtype = means.device, means.dtype
    for one in (*gaussians[1:], colors, backgrounds):
        if one is not None and (one.device != device or one.dtype != dtype):
            raise ValueError(
                f"gaussian: all tensors must be {dtype} on {device}, like means; one is {one.dtype} on {one.device}"
            )


def _check_colors(colors: torch.Tensor, size: tuple[torch.Size, int, int], degree: int | None) -> int:
    """Number of colour channels; 3 for spherical harmonics."""
    batch, count, cameras = size
    leading_shapes = ((*batch, count), (*batch, cameras, count))
    if degree is None:
        if (
            colors.dim() < 2
            or tuple(colors.shape[:-1]) not in leading_shapes
            or not 1 <= colors.shape[-1] <= MAX_CHANNELS
        ):
            raise ValueError(
                f"gaussian: colors must be [..., N, D] or [..., C, N, D] with D from 1 to {MAX_CHANNELS}, "
                f"not {tuple(colors.shape)}"
            )
        return int(colors.shape[-1])
    if not 0 <= degree <= MAX_DEGREE:
        raise ValueError(f"gaussian: sh_degree is {degree}; it must be 0 to {MAX_DEGREE}")
    if (
        colors.dim() < 3
        or tuple(colors.shape[:-2]) not in leading_shapes
        or colors.shape[-1] != 3
        or colors.shape[-2] < (degree + 1) ** 2
    ):
        raise ValueError(
            f"gaussian: with sh_degree {degree} colors must be [..., N, K, 3] with K of at least {(degree + 1) ** 2}, "
            f"not {tuple(colors.shape)}"
        )
    return 3


def contiguous(
    gaussians: Gaussians, colors: torch.Tensor, backgrounds: torch.Tensor | None, options: RenderOptions
) -> tuple[Gaussians, torch.Tensor, torch.Tensor | None]:
    """Contiguous tensors; colours [N, D] if they are shared, else [images, N, D]; a zero background for the depth."""
    gaussians = type(gaussians)(*[None if one is None else one.contiguous() for one in gaussians])
    means, views = gaussians.means, gaussians.viewmats
    images, count, cameras = views.numel() // 16, means.shape[-2], views.shape[-3]
    colors = colors.contiguous()
    if options.degree is None and colors.dim() > 2:
        if colors.dim() == means.dim():
            colors = colors[..., None, :, :].expand(*means.shape[:-2], cameras, *colors.shape[-2:])
        colors = colors.reshape(images, count, colors.shape[-1])
    if backgrounds is not None:
        backgrounds = backgrounds.reshape(images, -1)
        if options.with_depths:
            backgrounds = torch.nn.functional.pad(backgrounds, (0, 1))
    return gaussians, colors, backgrounds


def _check_shape(name: str, tensor: torch.Tensor | None, shape: tuple[int, ...]) -> None:
    if tensor is not None and tensor.shape != shape:
        raise ValueError(f"gaussian: {name} must be {shape} with these means and viewmats, not {tuple(tensor.shape)}")


def _shapes(*tensors: torch.Tensor) -> str:
    return " and ".join(str(tuple(one.shape)) for one in tensors)
