"""Launches the surfel kernels; PyTorch makes the tile lists in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import triton

from rocm3d_kernels.gate_kernel import KERNEL_PREFIX
from rocm3d_kernels.launching import launch
from rocm3d_kernels.surfels.lists import SIDE, SurfelTileLists
from rocm3d_kernels.surfels.reference import SurfelImages
from rocm3d_kernels.surfels.triton import (
    RECORD,
    rocm3d_draw_surfels,
    rocm3d_draw_surfels_backward,
    rocm3d_project_surfels,
)
from rocm3d_kernels.tuning import tuned

CHUNK = 4


class PixelState(NamedTuple):
    """State of each pixel for backward."""

    transmittance: torch.Tensor  # [images, height, width]: final transmittance
    last: torch.Tensor  # int32: position of the last drawn surfel in the lists
    depths: torch.Tensor  # sum of weights times depths


def project(
    means: torch.Tensor,
    quats: torch.Tensor,
    scales: torch.Tensor,
    opacities: torch.Tensor,
    viewmats: torch.Tensor,
    intrinsics: torch.Tensor,
    size: tuple[int, int],
    near: float,
    far: float,
    radius_clip: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Records and radii as in the reference; takes contiguous tensors [batches, ...]."""
    images, count, device = viewmats.numel() // 16, means.shape[-2], means.device
    records = torch.empty((images, count, RECORD), device=device)
    radii = torch.empty((images, count, 2), dtype=torch.int32, device=device)
    if images * count:
        parameters = tuned("surfels", "project_surfels", device)
        arguments = (
            means, quats, scales, opacities, viewmats, intrinsics, records, radii,
            count, viewmats.shape[-3], *size, near, far, radius_clip,
        )  # fmt: skip
        launch(rocm3d_project_surfels, (triton.cdiv(count, parameters["BLOCK"]), images, 1), arguments, **parameters)
    return records, radii


def draw(
    records: torch.Tensor,
    lists: SurfelTileLists,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    size: tuple[int, int],
) -> tuple[SurfelImages, PixelState]:
    """Renders all images, four colour channels at a time; colours are [images, N, D]."""
    channels, device, (width, height) = colors.shape[-1], records.device, size
    shape = (records.shape[0], height, width)
    drawn = SurfelImages(*[torch.empty((*shape, *more), device=device) for more in ((channels,), (), (3,), (), ())])
    pixel_state = PixelState(*[torch.empty(shape, dtype=kind, device=device) for kind in (None, torch.int32, None)])
    for at in range(0, channels, CHUNK):
        arguments = (
            records, colors[..., at:], lists.rows, lists.offsets, _from(backgrounds, at),
            drawn.image[..., at:], *drawn[1:], *pixel_state, *_integers(colors, lists, size),
        )  # fmt: skip
        _launch_chunk(rocm3d_draw_surfels, arguments, at, lists, colors, backgrounds)
    return drawn, pixel_state


def draw_backward(
    records: torch.Tensor,
    lists: SurfelTileLists,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    pixel_state: PixelState,
    v_outputs: Sequence[torch.Tensor | None],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients of records and colours; `v_outputs` are those of the images, in the order of SurfelImages."""
    (images, height, width), channels = pixel_state.transmittance.shape, colors.shape[-1]
    shapes = ((channels,), (), (3,), (), ())
    v_images = [
        pixel_state.transmittance.new_zeros((images, height, width, *more)) if one is None else one.contiguous()
        for one, more in zip(v_outputs, shapes, strict=True)
    ]
    v_records, v_colors = torch.zeros_like(records), torch.zeros_like(colors)
    for at in range(0, channels, CHUNK):
        arguments = (
            records, colors[..., at:], lists.rows, lists.offsets, _from(backgrounds, at), *pixel_state,
            v_images[0][..., at:], *v_images[1:], v_records, v_colors[..., at:],
            *_integers(colors, lists, (width, height)),
        )  # fmt: skip
        _launch_chunk(rocm3d_draw_surfels_backward, arguments, at, lists, colors, backgrounds)
    return v_records, v_colors


def _from(backgrounds: torch.Tensor | None, channel: int) -> torch.Tensor | None:
    return None if backgrounds is None else backgrounds[:, channel:]


def _integers(colors: torch.Tensor, lists: SurfelTileLists, size: tuple[int, int]) -> tuple[int, ...]:
    """Integer arguments of both kernels."""
    count, channels = colors.shape[-2:]
    return count, count * channels, *size, lists.across, lists.across * lists.down, channels


def _launch_chunk(
    kernel: Any,
    arguments: tuple[Any, ...],
    at: int,
    lists: SurfelTileLists,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
) -> None:
    """One chunk of channels; the first also renders normals, depth and distortion."""
    channels = colors.shape[-1]
    launch(
        kernel, (lists.offsets.shape[0] - 1, 1, 1), arguments,
        COLOR_ROW=channels, D=min(CHUNK, channels - at), HAS_BACKGROUND=backgrounds is not None, GEOMETRY=at == 0,
        TILE=SIDE, **tuned("surfels", kernel.__name__.removeprefix(KERNEL_PREFIX), colors.device),
    )  # fmt: skip
