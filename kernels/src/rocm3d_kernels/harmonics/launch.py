"""Launches the kernels of spherical harmonics."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rocm3d_kernels.harmonics.triton import rocm3d_harmonics_backward, rocm3d_harmonics_forward
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned


class HarmonicsOptions(NamedTuple):
    """`as_colors`: add 0.5 and clamp at zero. `per_image`: each image has its own coefficients."""

    degree: int
    cameras: int  # per batch
    as_colors: bool
    per_image: bool


def forward(
    points: torch.Tensor,  # [..., N, 3]
    origins: torch.Tensor,  # [images, 3]
    coefficients: torch.Tensor,  # [..., N, K, 3]
    radii: torch.Tensor | None,  # [images, N, 2]; zero: the result is zero
    options: HarmonicsOptions,
) -> torch.Tensor:
    """Sums [images, N, 3] of the coefficients at the directions from the origins to the points."""
    images, count = origins.shape[0], points.shape[-2]
    values = torch.empty((images, count, 3), device=points.device)
    if images * count:
        parameters = tuned("harmonics", "harmonics_forward", points.device)
        numbers = (count, options.cameras, int(options.per_image), coefficients.shape[-2])
        launch(
            rocm3d_harmonics_forward, (-(-count // parameters["BLOCK"]), images, 1),
            (points, origins, coefficients, radii, values, *numbers),
            BASES=(options.degree + 1) ** 2, AS_COLORS=options.as_colors, HAS_RADII=radii is not None, **parameters,
        )  # fmt: skip
    return values


def backward(
    points: torch.Tensor,
    origins: torch.Tensor,
    coefficients: torch.Tensor,
    radii: torch.Tensor | None,
    options: HarmonicsOptions,
    values: torch.Tensor,
    v_values: torch.Tensor,
    *,
    needs_points: bool,
    needs_origins: bool,
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor]:
    """Gradients of points, origins and coefficients; `v_values` has one row stride."""
    images, count = origins.shape[0], points.shape[-2]
    shared = options.cameras > 1
    allocate = torch.zeros_like if shared else torch.empty_like
    v_coefficients = allocate(coefficients)
    v_points = allocate(points) if needs_points or needs_origins else None
    v_origins = torch.zeros_like(origins) if needs_origins else None
    if images * count:
        parameters = tuned("harmonics", "harmonics_backward", points.device)
        launch(
            rocm3d_harmonics_backward, (-(-count // parameters["BLOCK"]), images, 1),
            (
                points, origins, coefficients, radii, values, v_values, v_points, v_origins, v_coefficients,
                count, options.cameras, int(options.per_image), coefficients.shape[-2], v_values.stride(-2),
            ),
            BASES=(options.degree + 1) ** 2, TOTAL=coefficients.shape[-2], AS_COLORS=options.as_colors,
            HAS_RADII=radii is not None, NEED_POINTS=v_points is not None, NEED_ORIGINS=needs_origins, ADD=shared,
            **parameters,
        )  # fmt: skip
    return v_points, v_origins, v_coefficients
