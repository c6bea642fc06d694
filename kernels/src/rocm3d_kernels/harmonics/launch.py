"""Launches the kernels of spherical harmonics."""

from __future__ import annotations

from typing import NamedTuple

import torch

from rocm3d_kernels.harmonics.triton import rocm3d_harmonics_backward, rocm3d_harmonics_forward
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned


class View(NamedTuple):
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
    view: View,
) -> torch.Tensor:
    """Sums [images, N, 3] of the coefficients at the directions from the origins to the points."""
    images, count = origins.shape[0], points.shape[-2]
    values = torch.empty((images, count, 3), device=points.device)
    if images * count:
        parameters = tuned("harmonics", "harmonics_forward", points.device)
        numbers = (count, view.cameras, int(view.per_image), coefficients.shape[-2])
        launch(
            rocm3d_harmonics_forward, (-(-count // parameters["BLOCK"]), images, 1),
            (points, origins, coefficients, radii, values, *numbers),
            BASES=(view.degree + 1) ** 2, AS_COLORS=view.as_colors, HAS_RADII=radii is not None, **parameters,
        )  # fmt: skip
    return values


def backward(
    points: torch.Tensor,
    origins: torch.Tensor,
    coefficients: torch.Tensor,
    radii: torch.Tensor | None,
    view: View,
    values: torch.Tensor,
    given: torch.Tensor,
    *,
    of_points: bool,
    of_origins: bool,
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor]:
    """Gradients of points, origins and coefficients; `v_values` has one row stride."""
    images, count = origins.shape[0], points.shape[-2]
    shared = view.cameras > 1
    fresh = torch.zeros_like if shared else torch.empty_like
    to_coefficients = fresh(coefficients)
    to_points = fresh(points) if of_points or of_origins else None
    to_origins = torch.zeros_like(origins) if of_origins else None
    if images * count:
        parameters = tuned("harmonics", "harmonics_backward", points.device)
        launch(
            rocm3d_harmonics_backward, (-(-count // parameters["BLOCK"]), images, 1),
            (
                points, origins, coefficients, radii, values, given, to_points, to_origins, to_coefficients,
                count, view.cameras, int(view.per_image), coefficients.shape[-2], given.stride(-2),
            ),
            BASES=(view.degree + 1) ** 2, TOTAL=coefficients.shape[-2], AS_COLORS=view.as_colors,
            HAS_RADII=radii is not None, NEED_POINTS=to_points is not None, NEED_ORIGINS=of_origins, ADD=shared,
            **parameters,
        )  # fmt: skip
    return to_points, to_origins, to_coefficients
