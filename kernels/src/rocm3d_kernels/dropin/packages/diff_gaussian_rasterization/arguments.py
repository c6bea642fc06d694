"""Checks the arguments of a rendering under their names in the original, before any launch."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from rocm3d_kernels.arguments import (
    MAX_INT32,
    CheckedLayouts,
    check_alike,
    check_image_size,
    check_integer,
    check_number,
    check_shape,
    check_tensors,
    describe,
)
from rocm3d_kernels.gaussian.arguments import FINE
from rocm3d_kernels.harmonics.reference import MAX_DEGREE

OP = "diff_gaussian_rasterization"
COLORS = 3
_CHECKED = CheckedLayouts()


class Arguments(NamedTuple):
    """Checked tensors of one rendering; None for those that were not passed."""

    means: torch.Tensor  # [N, 3]
    means2d: torch.Tensor | None  # [N, 2]
    opacities: torch.Tensor  # [N]
    harmonics: torch.Tensor | None  # [N, K, 3]
    colors: torch.Tensor | None  # [N, 3]
    scales: torch.Tensor | None  # [N, 3]
    rotations: torch.Tensor | None  # [N, 4]
    covars: torch.Tensor | None  # [N, 6]


class Camera(NamedTuple):
    """Checked numbers of the settings."""

    width: int
    height: int
    tanfovx: float
    tanfovy: float
    scale_modifier: float


def check_tensor_arguments(named: dict[str, Any]) -> Arguments:
    """Tensors by their names in the original, where an empty tensor stands for a missing one, too.

    Without Gaussians every tensor is empty: then one that has the dimensions of its argument was passed.
    """
    key = CheckedLayouts.key(named.values())
    if key not in _CHECKED:
        _check_tensors(named)
        _CHECKED.add(key)
    means, opacities, means2d = named["means3D"], named["opacities"], named["means2D"]
    passed = _passed(named)
    colors, harmonics = passed["colors_precomp"], passed["shs"]
    if passed["dc"] is not None and colors is None:
        harmonics = passed["dc"] if harmonics is None else torch.cat([passed["dc"], harmonics], dim=1)
    if (harmonics is None) == (colors is None):
        raise ValueError(f"{OP}: pass exactly one of shs and colors_precomp")
    scales, rotations, covars = passed["scales"], passed["rotations"], passed["cov3D_precomp"]
    is_scaled = scales is not None and rotations is not None
    if is_scaled == (covars is not None) or (covars is not None and (scales is not None or rotations is not None)):
        raise ValueError(f"{OP}: pass exactly one of scales with rotations and cov3D_precomp")
    means2d = None if means2d is None else means2d[:, :2]
    return Arguments(means, means2d, opacities.reshape(-1), harmonics, colors, scales, rotations, covars)


def _check_tensors(named: dict[str, Any]) -> None:
    means = named["means3D"]
    check_tensors(OP, {"means3D": means, "opacities": named["opacities"]})
    if means.dim() != 2 or means.shape[1] != 3:
        raise ValueError(f"{OP}: means3D must be [N, 3], not {tuple(means.shape)}")
    count = means.shape[0]
    if count >= MAX_INT32:
        raise ValueError(f"{OP}: means3D are {count} Gaussians; it must be below {MAX_INT32}")
    check_tensors(OP, {name: one for name, one in named.items() if one is not None})
    passed = _passed(named)
    _check_shapes(named, passed, count)
    check_alike(OP, {"means3D": means, **passed, "opacities": named["opacities"], "means2D": named["means2D"]})


def _passed(named: dict[str, Any]) -> dict[str, Any]:
    count = named["means3D"].shape[0]
    return {name: None if one is None or _is_missing(one, count) else one for name, one in named.items()}


def _check_shapes(named: dict[str, Any], passed: dict[str, Any], count: int) -> None:
    for name, columns in (("colors_precomp", COLORS), ("scales", 3), ("rotations", 4), ("cov3D_precomp", 6)):
        check_shape(OP, name, passed[name], (count, columns), f"with {count} means3D")
    for name in ("shs", "dc"):
        one = passed[name]
        if one is not None and (one.dim() != 3 or one.shape[0] != count or one.shape[2] != COLORS):
            raise ValueError(f"{OP}: {name} must be [{count}, K, 3] with {count} means3D, not {tuple(one.shape)}")
    opacities, means2d = named["opacities"], named["means2D"]
    if opacities.shape not in ((count,), (count, 1)):
        raise ValueError(f"{OP}: opacities must be [{count}, 1] with {count} means3D, not {tuple(opacities.shape)}")
    if means2d is not None and (means2d.dim() != 2 or means2d.shape[0] != count or means2d.shape[1] < 2):
        raise ValueError(f"{OP}: means2D must be [{count}, 3] with {count} means3D, not {tuple(means2d.shape)}")


def _is_missing(tensor: torch.Tensor, count: int) -> bool:
    return tensor.numel() == 0 and (count > 0 or tensor.dim() == 1)


def check_settings(settings: Any, arguments: Arguments) -> Camera:
    """Numbers of the settings; raises for its tensors, too."""
    if not hasattr(settings, "tanfovx"):
        raise TypeError(f"{OP}: raster_settings must be GaussianRasterizationSettings, not {describe(settings)}")
    names = ("image_width", "image_height")
    width, height = check_image_size(OP, settings.image_width, settings.image_height, tile=FINE, names=names)
    tensors, raw = {"viewmatrix": settings.viewmatrix, "bg": settings.bg}, settings.projmatrix_raw
    # The raw matrix may be of any dtype and on any device; it is copied.
    check_tensors(OP, tensors if raw is None else {**tensors, "projmatrix_raw": raw})
    for name, one in (*tensors.items(), ("projmatrix_raw", raw)):
        check_shape(OP, name, one, (COLORS,) if name == "bg" else (4, 4))
    check_alike(OP, {"means3D": arguments.means, **tensors})
    if arguments.harmonics is not None:
        degree = check_integer(OP, "sh_degree", settings.sh_degree, 0, MAX_DEGREE)
        if arguments.harmonics.shape[1] < (degree + 1) ** 2:
            raise ValueError(
                f"{OP}: with sh_degree {degree} shs must be [N, K, 3] with K of at least {(degree + 1) ** 2}, "
                f"not {tuple(arguments.harmonics.shape)}"
            )
    return Camera(
        width,
        height,
        check_number(OP, "tanfovx", settings.tanfovx, above=0.0),
        check_number(OP, "tanfovy", settings.tanfovy, above=0.0),
        check_number(OP, "scale_modifier", settings.scale_modifier),
    )
