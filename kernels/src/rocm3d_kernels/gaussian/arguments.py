"""Checks and normalises the arguments of a rendering before any launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from rocm3d_kernels.arguments import (
    MAX_GRID,
    MAX_INT32,
    CheckedLayouts,
    check_alike,
    check_image_size,
    check_integer,
    check_number,
    check_shape,
    check_tensors,
    short,
)
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
# Side of the smallest tiles; as in projection/launch.py, which imports Triton.
FINE = 8
# Our name and gsplat's.
INTRINSICS = "intrinsics (Ks)"
_CHECKED = CheckedLayouts()


def check_arguments(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    size: tuple[int, int],
    degree: int | None,
    mode: str,
    camera: str,
    *,
    op: str = "gaussian",
    tile: int = FINE,
) -> None:
    """Raises for wrong types, shapes, dtypes, devices and modes, NotImplementedError for other camera models.

    `tile` is the side of the smallest tiles.
    """
    key = CheckedLayouts.key((*gaussians, colors, backgrounds), *size, degree, mode, camera, op, tile)
    if key in _CHECKED:
        return
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"{op}: render_mode is {short(mode)}; allowed: {', '.join(MODES)}")
    if not isinstance(camera, str) or camera not in CAMERA_MODELS:
        names = " or ".join(CAMERA_MODELS)
        raise NotImplementedError(f"{op}: camera_model {short(camera)} is not covered; use {names}")
    check_image_size(op, *size, tile=tile)
    cameras, with_colors = check_gaussians(gaussians, op=op), MODES[mode][0]
    check_image_size(op, *size, images=gaussians.viewmats.shape[:-2].numel(), tile=tile)
    batch, count = gaussians.means.shape[:-2], gaussians.means.shape[-2]
    channels = _check_colors(op, colors, (batch, count, cameras), degree) if with_colors else 0
    if backgrounds is not None:
        check_tensors(op, {"backgrounds": backgrounds})
        check_shape(op, "backgrounds", backgrounds, (*batch, cameras, channels), "with these viewmats and colors")
    shown = {"means": gaussians.means, "colors": colors if with_colors else None, "backgrounds": backgrounds}
    check_alike(op, shown)
    _CHECKED.add(key)


def check_gaussians(gaussians: Gaussians, *, op: str, opacities: bool = True) -> int:
    """Number of cameras; raises if a tensor is missing or its shape, dtype or device does not match the means."""
    means, views = gaussians.means, gaussians.viewmats
    required: dict[str, Any] = {"means": means, "viewmats": views, INTRINSICS: gaussians.intrinsics}
    if opacities or gaussians.opacities is not None:
        required["opacities"] = gaussians.opacities
    check_tensors(op, required)
    if gaussians.covars is None and (gaussians.quats is None or gaussians.scales is None):
        raise ValueError(f"{op}: pass either covars, or quats and scales")
    shapes = {"quats": gaussians.quats, "scales": gaussians.scales, "covars": gaussians.covars}
    check_tensors(op, {name: one for name, one in shapes.items() if one is not None})
    if means.dim() < 2 or views.dim() < 3:
        raise ValueError(
            f"{op}: means must be [..., N, 3] and viewmats [..., C, 4, 4], not {tuple(means.shape)} and "
            f"{tuple(views.shape)}"
        )
    batch, count, cameras = means.shape[:-2], means.shape[-2], views.shape[-3]
    context = "with these means and viewmats"
    for name, one, expected in (
        ("means", means, (*batch, count, 3)),
        ("quats", gaussians.quats, (*batch, count, 4)),
        ("scales", gaussians.scales, (*batch, count, 3)),
        ("covars", gaussians.covars, (*batch, count, 6)),
        ("opacities", gaussians.opacities, (*batch, count)),
        ("viewmats", views, (*batch, cameras, 4, 4)),
        (INTRINSICS, gaussians.intrinsics, (*batch, cameras, 3, 3)),
    ):
        if one is not None and one.shape != expected:
            check_shape(op, name, one, expected, context)
    check_alike(op, {"means": means, **shapes, **required})
    images = views.shape[:-2].numel()
    if not 1 <= images <= MAX_GRID:
        raise ValueError(f"{op}: viewmats {tuple(views.shape)} holds {images} cameras; it must be 1 to {MAX_GRID}")
    if images * count >= MAX_INT32:
        raise ValueError(
            f"{op}: means {tuple(means.shape)} are {images * count} Gaussians in all images; "
            f"it must be below {MAX_INT32}"
        )
    return int(cameras)


def _check_colors(op: str, colors: torch.Tensor, size: tuple[torch.Size, int, int], degree: int | None) -> int:
    """Number of colour channels; 3 for spherical harmonics."""
    check_tensors(op, {"colors": colors})
    batch, count, cameras = size
    leading_shapes = ((*batch, count), (*batch, cameras, count))
    if degree is None:
        if (
            colors.dim() < 2
            or tuple(colors.shape[:-1]) not in leading_shapes
            or not 1 <= colors.shape[-1] <= MAX_CHANNELS
        ):
            raise ValueError(
                f"{op}: colors must be [..., N, D] or [..., C, N, D] with D from 1 to {MAX_CHANNELS}, "
                f"not {tuple(colors.shape)}"
            )
        return int(colors.shape[-1])
    degree = check_integer(op, "sh_degree", degree, 0, MAX_DEGREE)
    if (
        colors.dim() < 3
        or tuple(colors.shape[:-2]) not in leading_shapes
        or colors.shape[-1] != 3
        or colors.shape[-2] < (degree + 1) ** 2
    ):
        raise ValueError(
            f"{op}: with sh_degree {degree} colors must be [..., N, K, 3] with K of at least {(degree + 1) ** 2}, "
            f"not {tuple(colors.shape)}"
        )
    return 3


def camera_numbers(op: str, near: Any, far: Any, radius_clip: Any, eps2d: Any) -> tuple[float, float, float, float]:
    """near_plane, far_plane, radius_clip and eps2d as floats; raises for NaN."""
    return (
        check_number(op, "near_plane", near),
        check_number(op, "far_plane", far, infinite=True),
        check_number(op, "radius_clip", radius_clip),
        check_number(op, "eps2d", eps2d, least=0.0),
    )


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
        backgrounds = backgrounds.reshape(images, backgrounds.shape[-1]).contiguous()
        if options.with_depths:
            backgrounds = torch.nn.functional.pad(backgrounds, (0, 1))
    return gaussians, colors, backgrounds
