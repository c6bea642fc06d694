"""Launches the projection kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.launching import launch
from rocm3d_kernels.projection.triton import RECORD, rocm3d_project_backward, rocm3d_project_forward
from rocm3d_kernels.tuning import tuned

if TYPE_CHECKING:
    from rocm3d_kernels.projection import Gaussians, Settings

# Both tile sizes are counted, in pixels; the counts decide which one is used.
COARSE, FINE = 16, 8


@dataclass(slots=True)
class Seen:
    """Outputs of the kernel; counts, keys and totals only with `count_tiles`, until tile lists are made."""

    records: torch.Tensor  # [images, N, 8]
    radii: torch.Tensor  # int32 [images, N, 2]
    counts: torch.Tensor | None = None  # int32 [2, images * N, padded]: number of tiles, coarse and fine
    keys: torch.Tensor | None = None  # [images * N]: depth, infinity if no tile is touched
    totals: torch.Tensor | None = None  # int64 [2]: number of pairs, coarse and fine


def forward(gaussians: Gaussians, settings: Settings, *, count_tiles: bool) -> Seen:
    """Projects all Gaussians into all images."""
    means, covars, _quats, _scales, opacities, viewmats, _intrinsics = gaussians
    count, cameras, device = means.shape[-2], viewmats.shape[-3], means.device
    images = viewmats.numel() // 16
    # Padded, so that the second row is aligned to 16 bytes.
    apart = -(-images * count // 4) * 4
    seen = Seen(
        torch.empty((images, count, RECORD), device=device),
        torch.empty((images, count, 2), dtype=torch.int32, device=device),
    )
    if count_tiles:
        seen.counts = torch.empty((2, apart), dtype=torch.int32, device=device)
        seen.keys = torch.empty(images * count, device=device)
        seen.totals = torch.zeros(2, dtype=torch.int64, device=device)
    if images * count:
        parameters = tuned("projection", "project_forward", device)
        given = (
            *gaussians, seen.records, seen.radii, seen.counts, seen.keys, seen.totals, None, count, cameras,
            settings.width, settings.height, settings.eps2d, settings.near, settings.far, settings.radius_clip,
            apart, 0,
        )  # fmt: skip
        launch(
            rocm3d_project_forward, (-(-count // parameters["BLOCK"]), images, 1), given,
            FROM_COVARS=covars is not None, HAS_OPACITIES=opacities is not None, COMPENSATE=settings.compensate,
            ORTHO=settings.camera == "ortho", COARSE=COARSE if count_tiles else 0, FINE=FINE, AHEAD=False,
            **parameters,
        )  # fmt: skip
    return seen


def backward(
    gaussians: Gaussians,
    settings: Settings,
    radii: torch.Tensor,
    given: Sequence[torch.Tensor | None],
    *,
    of_views: bool,
    shapes_at: int = 0,
) -> tuple[torch.Tensor | None, ...]:
    """Gradients of means, covars, quats, scales, opacities and viewmats.

    `v_parts` are gradients of means2d, shapes and depths, by image or as rows of all images. Those of shapes begin at
    column `shapes_offset`.
    """
    means, covars, quats, scales, opacities, viewmats, _intrinsics = gaussians
    count = means.shape[-2]
    batches = means.numel() // max(3 * count, 1)
    of_means2d, of_shapes = _rows(given[0], means, radii, 2), _rows(given[1], means, radii, 4)
    of_depths = None if given[2] is None else _rows(given[2], means, radii, 2)
    to = [None if one is None else torch.empty_like(one) for one in (means, covars, quats, scales, opacities)]
    of_cameras = torch.zeros_like(viewmats) if of_views else None
    if batches * count:
        parameters = tuned("projection", "project_backward", means.device)
        blocks = -(-count // parameters["BLOCK"])
        # One part per program, then one sum: deterministic.
        parts = viewmats.new_zeros((blocks, *viewmats.shape)) if of_views else None
        arguments = (
            *gaussians, radii, of_means2d, of_shapes, of_depths, *to, parts,
            of_means2d.stride(-2), of_shapes.stride(-2), 0 if of_depths is None else of_depths.stride(-2),
            count, viewmats.shape[-3], settings.width, settings.height, settings.eps2d,
        )  # fmt: skip
        launch(
            rocm3d_project_backward, (blocks, batches, 1), arguments,
            FROM_COVARS=covars is not None, HAS_OPACITIES=opacities is not None, COMPENSATE=settings.compensate,
            ORTHO=settings.camera == "ortho", HAS_DEPTHS=of_depths is not None, NEED_VIEWMATS=of_views,
            SHAPES_AT=shapes_at, **parameters,
        )  # fmt: skip
        of_cameras = None if parts is None else parts.sum(dim=0)
    return (*to, of_cameras)


def _rows(given: torch.Tensor | None, like: torch.Tensor, radii: torch.Tensor, wide: int) -> torch.Tensor:
    """The gradient with one row stride for all images; zeros if it is None."""
    if given is None:
        return like.new_zeros((*radii.shape[:2], wide))
    if given.dim() == 2:  # rows of all images in line
        return given
    regular = given.stride(-1) == 1 and (given.shape[0] == 1 or given.stride(0) == given.stride(1) * given.shape[1])
    return given if regular else given.contiguous()
