"""Launches the raster kernels, four colour channels at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels.launching import launch
from rocm3d_kernels.raster.triton import (
    ABSOLUTE_SHAPE,
    SHAPE,
    rocm3d_raster_backward,
    rocm3d_raster_forward,
    rocm3d_sum_pairs,
)
from rocm3d_kernels.tuning import tuned

if TYPE_CHECKING:
    from rocm3d_kernels.raster import RasterInputs

CHUNK = 4
MAX_INT16_SLOTS = 2**15


class RasterOutputs(NamedTuple):
    """Images and alphas; for backward the final transmittance and the last Gaussian of each pixel."""

    image: torch.Tensor
    alphas: torch.Tensor
    transmittance: torch.Tensor | None
    last: torch.Tensor | None


def forward(
    colors: torch.Tensor, backgrounds: torch.Tensor | None, inputs: RasterInputs, *, keep: bool
) -> RasterOutputs:
    """Renders all images; `keep` stores the state for backward."""
    lists, device = inputs.lists, colors.device
    tiles = lists.tiles
    images, channels = tiles // (lists.tiles_x * lists.tiles_y), colors.shape[-1]
    shape = (images, inputs.height, inputs.width)
    image = torch.empty((*shape, channels), device=device)
    alphas = torch.empty(shape, device=device)
    T = torch.empty(shape, device=device) if keep else None
    # Position in the list of its tile: int16 is enough for short lists.
    dtype = torch.int16 if 0 < lists.slots <= MAX_INT16_SLOTS else torch.int32
    last = torch.empty(shape, dtype=dtype, device=device) if keep else None
    per_image, step, row = _strides(colors, inputs, images)
    parameters = tuned("raster", "raster_forward", device)
    for at in range(0, channels, CHUNK):
        arguments = (
            inputs.records, _from(colors, at), lists.gaussians, lists.offsets, _from(backgrounds, at), inputs.masks,
            _from(image, at), alphas, T, last, per_image, step, inputs.width, inputs.height,
            lists.tiles_x, lists.tiles_x * lists.tiles_y, channels,
        )  # fmt: skip
        launch(
            rocm3d_raster_forward, (tiles, 1, 1), arguments,
            COLOR_ROW=row, D=min(CHUNK, channels - at), HAS_BACKGROUND=backgrounds is not None,
            HAS_MASKS=inputs.masks is not None, KEEP=keep, CAP=inputs.cap, TILE=lists.side, SLOTS=lists.slots,
            **parameters,
        )  # fmt: skip
    return RasterOutputs(image, alphas, T, last)


def backward(
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    inputs: RasterInputs,
    T: torch.Tensor,
    last: torch.Tensor,
    v_image: torch.Tensor | None,
    v_alphas: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Gradients of shapes [rows, 6 or 8] and of colours, and absgrad of means2d, or None."""
    lists, channels, rows = inputs.lists, colors.shape[-1], inputs.records.shape[0]
    v_image = T.new_zeros((*T.shape, channels)) if v_image is None else v_image.contiguous()
    v_alphas = None if v_alphas is None else v_alphas.contiguous()
    images = T.shape[0]
    per_image, step, row = _strides(colors, inputs, images)
    parameters = tuned("raster", "raster_backward", colors.device)
    shape_size = ABSOLUTE_SHAPE if inputs.absgrad else SHAPE
    v_shapes: Any = None
    color_chunks = []
    for at in range(0, channels, CHUNK):
        depth = min(CHUNK, channels - at)
        grad_rows = lists.gaussians.shape[0] if inputs.deterministic else rows
        grads = T.new_zeros(grad_rows * (shape_size + depth))
        arguments = (
            inputs.records, _from(colors, at), lists.gaussians, lists.offsets, _from(backgrounds, at), T, last,
            _from(v_image, at), v_alphas, grads, rows, per_image, step, inputs.width, inputs.height,
            lists.tiles_x, lists.tiles_x * lists.tiles_y, channels,
        )  # fmt: skip
        launch(
            rocm3d_raster_backward, (lists.tiles, 1, 1), arguments,
            COLOR_ROW=row, D=depth, HAS_BACKGROUND=backgrounds is not None,
            HAS_ALPHAS=v_alphas is not None and at == 0, ABSOLUTE=inputs.absgrad, PER_PAIR=inputs.deterministic,
            CAP=inputs.cap, TILE=lists.side, SLOTS=lists.slots, **parameters,
        )  # fmt: skip
        if inputs.deterministic:
            summed = _sum_pairs(grads.view(grad_rows, shape_size + depth), lists.gaussians, rows)
            v_chunk, v_colors = summed[:, :shape_size], summed[:, shape_size:]
        else:
            v_chunk, v_colors = (
                grads[: rows * shape_size].view(rows, shape_size),
                grads[rows * shape_size :].view(rows, depth),
            )
        color_chunks.append(v_colors)
        # Shapes get gradients from every chunk of channels. With absgrad the sum over chunks is an upper bound: the
        # absolute value of a sum over channels is not the sum of absolute values.
        v_shapes = v_chunk if v_shapes is None else v_shapes.add_(v_chunk)
    v_colors = color_chunks[0] if len(color_chunks) == 1 else torch.cat(color_chunks, dim=-1)
    absgrad = v_shapes[:, SHAPE:ABSOLUTE_SHAPE] if inputs.absgrad else None
    if inputs.by_image and v_colors.shape != colors.shape:
        v_colors = v_colors.view(images, *colors.shape[-2:])
        v_colors = v_colors if colors.dim() == 3 else v_colors.sum(dim=0)
    return v_shapes, v_colors, absgrad


def _from(tensor: torch.Tensor | None, channel: int) -> torch.Tensor | None:
    return tensor if tensor is None or channel == 0 else tensor[..., channel:]


def _strides(colors: torch.Tensor, inputs: RasterInputs, images: int) -> tuple[int, int, int]:
    """Gaussians per image, and the strides of colours between images and between Gaussians."""
    if not inputs.by_image:
        return 0, 0, colors.stride(0)
    return inputs.records.shape[0] // max(images, 1), colors.stride(0) if colors.dim() == 3 else 0, colors.stride(-2)


def _sum_pairs(pairs: torch.Tensor, gaussians: torch.Tensor, rows: int) -> torch.Tensor:
    """Sums the gradients of pairs by Gaussian, in a fixed order."""
    sorted_ids, order = torch.sort(gaussians, stable=True)
    bounds = torch.searchsorted(
        sorted_ids, torch.arange(rows + 1, dtype=sorted_ids.dtype, device=sorted_ids.device), out_int32=True
    )
    sums = pairs.new_zeros((rows, pairs.shape[1]))
    if rows:
        parameters = tuned("raster", "sum_pairs", pairs.device)
        launch(rocm3d_sum_pairs, (rows, 1, 1), (pairs, order, bounds, sums), ROW=pairs.shape[1], **parameters)
    return sums
