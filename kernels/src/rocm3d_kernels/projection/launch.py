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
    from rocm3d_kernels.projection import CameraSettings, Gaussians

# Both tile sizes are counted, in pixels; the counts decide which one is used.
COARSE, FINE = 16, 8


@dataclass(slots=True)
class ProjectionOutputs:
    """Outputs of the kernel; counts, keys and totals only with `count_tiles`, until tile lists are made."""

    records: torch.Tensor  # [images, N, 8]
    radii: torch.Tensor  # int32 [images, N, 2]
    counts: torch.Tensor | None = None  # int32 [2, images * N, padded]: number of tiles, coarse and fine
    keys: torch.Tensor | None = None  # [images * N]: depth, infinity if no tile is touched
    totals: torch.Tensor | None = None  # int64 [2]: number of pairs, coarse and fine


def forward(gaussians: Gaussians, settings: CameraSettings, *, count_tiles: bool) -> ProjectionOutputs:
    """Projects all Gaussians into all images."""
    means, covars, _quats, _scales, opacities, viewmats, _intrinsics = gaussians
    count, cameras, device = means.shape[-2], viewmats.shape[-3], means.device
    images = viewmats.numel() // 16
    # Padded, so that the second row is aligned to 16 bytes.
    row_stride = -(-images * count // 4) * 4
    out = ProjectionOutputs(
        torch.empty((images, count, RECORD), device=device),
        torch.empty((images, count, 2), dtype=torch.int32, device=device),
    )
    if count_tiles:
        out.counts = torch.empty((2, row_stride), dtype=torch.int32, device=device)
        out.keys = torch.empty(images * count, device=device)
        out.totals = torch.zeros(2, dtype=torch.int64, device=device)
    if images * count:
        parameters = tuned("projection", "project_forward", device)
        arguments = (
            *gaussians, out.records, out.radii, out.counts, out.keys, out.totals, None, count, cameras,
            settings.width, settings.height, settings.eps2d, settings.near, settings.far, settings.radius_clip,
            row_stride, 0,
        )  # fmt: skip
        launch(
            rocm3d_project_forward, (-(-count // parameters["BLOCK"]), images, 1), arguments,
            FROM_COVARS=covars is not None, HAS_OPACITIES=opacities is not None, COMPENSATE=settings.compensate,
            ORTHO=settings.camera == "ortho", COARSE=COARSE if count_tiles else 0, FINE=FINE, AHEAD=False,
            **parameters,
        )  # fmt: skip
    return out


def backward(
    gaussians: Gaussians,
    settings: CameraSettings,
    radii: torch.Tensor,
    v_parts: Sequence[torch.Tensor | None],
    *,
    needs_viewmats: bool,
    shapes_offset: int = 0,
) -> tuple[torch.Tensor | None, ...]:
    """Gradients of means, covars, quats, scales, opacities and viewmats.

    `v_parts` are gradients of means2d, shapes and depths, by image or as rows of all images. Those of shapes begin at
    column `shapes_offset`.
    """
    means, covars, quats, scales, opacities, viewmats, _intrinsics = gaussians
    count = means.shape[-2]
    batches = means.numel() // max(3 * count, 1)
    v_means2d, v_shapes = _gradient_rows(v_parts[0], means, radii, 2), _gradient_rows(v_parts[1], means, radii, 4)
    v_depths = None if v_parts[2] is None else _gradient_rows(v_parts[2], means, radii, 2)
    grads = [None if one is None else torch.empty_like(one) for one in (means, covars, quats, scales, opacities)]
    v_viewmats = torch.zeros_like(viewmats) if needs_viewmats else None
    if batches * count:
        parameters = tuned("projection", "project_backward", means.device)
        blocks = -(-count // parameters["BLOCK"])
        # One part per program, then one sum: deterministic.
        v_by_block = viewmats.new_zeros((blocks, *viewmats.shape)) if needs_viewmats else None
        arguments = (
            *gaussians, radii, v_means2d, v_shapes, v_depths, *grads, v_by_block,
            v_means2d.stride(-2), v_shapes.stride(-2), 0 if v_depths is None else v_depths.stride(-2),
            count, viewmats.shape[-3], settings.width, settings.height, settings.eps2d,
        )  # fmt: skip
        launch(
            rocm3d_project_backward, (blocks, batches, 1), arguments,
            FROM_COVARS=covars is not None, HAS_OPACITIES=opacities is not None, COMPENSATE=settings.compensate,
            ORTHO=settings.camera == "ortho", HAS_DEPTHS=v_depths is not None, NEED_VIEWMATS=needs_viewmats,
            SHAPES_AT=shapes_offset, **parameters,
        )  # fmt: skip
        v_viewmats = None if v_by_block is None else v_by_block.sum(dim=0)
    return (*grads, v_viewmats)


def _gradient_rows(gradient: torch.Tensor | None, like: torch.Tensor, radii: torch.Tensor, width: int) -> torch.Tensor:
    """The gradient with one row stride for all images; zeros if it is None."""
    if gradient is None:
        return like.new_zeros((*radii.shape[:2], width))
    if gradient.dim() == 2:  # rows of all images in line
        return gradient
    is_regular = gradient.stride(-1) == 1 and (
        gradient.shape[0] == 1 or gradient.stride(0) == gradient.stride(1) * gradient.shape[1]
    )
    return gradient if is_regular else gradient.contiguous()
