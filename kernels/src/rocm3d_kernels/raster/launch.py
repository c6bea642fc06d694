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
    from rocm3d_kernels.raster import Drawing

CHUNK = 4
SHORT = 2**15


class Drawn(NamedTuple):
    """Images and alphas; for backward the final transmittance and the last Gaussian of each pixel."""

    image: torch.Tensor
    alphas: torch.Tensor
    through: torch.Tensor | None
    last: torch.Tensor | None


def forward(colors: torch.Tensor, backgrounds: torch.Tensor | None, drawing: Drawing, *, keep: bool) -> Drawn:
    """Renders all images; `keep` stores the state for backward."""
    lists, device = drawing.lists, colors.device
    tiles = lists.tiles
    images, channels = tiles // (lists.tiles_x * lists.tiles_y), colors.shape[-1]
    shape = (images, drawing.height, drawing.width)
    image = torch.empty((*shape, channels), device=device)
    alphas = torch.empty(shape, device=device)
    through = torch.empty(shape, device=device) if keep else None
    # Position in the list of its tile: int16 is enough for short lists.
    kind = torch.int16 if 0 < lists.slots <= SHORT else torch.int32
    last = torch.empty(shape, dtype=kind, device=device) if keep else None
    per_image, step, row = _steps(colors, drawing, images)
    parameters = tuned("raster", "raster_forward", device)
    for at in range(0, channels, CHUNK):
        given = (
            drawing.records, _from(colors, at), lists.gaussians, lists.offsets, _from(backgrounds, at), drawing.masks,
            _from(image, at), alphas, through, last, per_image, step, drawing.width, drawing.height,
            lists.tiles_x, lists.tiles_x * lists.tiles_y, channels,
        )  # fmt: skip
        launch(
            rocm3d_raster_forward, (tiles, 1, 1), given,
            COLOR_ROW=row, D=min(CHUNK, channels - at), HAS_BACKGROUND=backgrounds is not None,
            HAS_MASKS=drawing.masks is not None, KEEP=keep, CAP=drawing.cap, TILE=lists.side, SLOTS=lists.slots,
            **parameters,
        )  # fmt: skip
    return Drawn(image, alphas, through, last)


def backward(
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    drawing: Drawing,
    through: torch.Tensor,
    last: torch.Tensor,
    given: torch.Tensor | None,
    given_alphas: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Gradients of shapes [rows, 6 or 8] and of colours, and absgrad of means2d, or None."""
    lists, channels, rows = drawing.lists, colors.shape[-1], drawing.records.shape[0]
    given = through.new_zeros((*through.shape, channels)) if given is None else given.contiguous()
    given_alphas = None if given_alphas is None else given_alphas.contiguous()
    images = through.shape[0]
    per_image, step, row = _steps(colors, drawing, images)
    parameters = tuned("raster", "raster_backward", colors.device)
    wide = ABSOLUTE_SHAPE if drawing.absgrad else SHAPE
    shapes: Any = None
    of_colors = []
    for at in range(0, channels, CHUNK):
        deep = min(CHUNK, channels - at)
        parts = lists.gaussians.shape[0] if drawing.deterministic else rows
        found = through.new_zeros(parts * (wide + deep))
        arguments = (
            drawing.records, _from(colors, at), lists.gaussians, lists.offsets, _from(backgrounds, at), through, last,
            _from(given, at), given_alphas, found, rows, per_image, step, drawing.width, drawing.height,
            lists.tiles_x, lists.tiles_x * lists.tiles_y, channels,
        )  # fmt: skip
        launch(
            rocm3d_raster_backward, (lists.tiles, 1, 1), arguments,
            COLOR_ROW=row, D=deep, HAS_BACKGROUND=backgrounds is not None,
            HAS_ALPHAS=given_alphas is not None and at == 0, ABSOLUTE=drawing.absgrad, PER_PAIR=drawing.deterministic,
            CAP=drawing.cap, TILE=lists.side, SLOTS=lists.slots, **parameters,
        )  # fmt: skip
        if drawing.deterministic:
            summed = _summed(found.view(parts, wide + deep), lists.gaussians, rows)
            pulls, colored = summed[:, :wide], summed[:, wide:]
        else:
            pulls, colored = found[: rows * wide].view(rows, wide), found[rows * wide :].view(rows, deep)
        of_colors.append(colored)
        # Shapes get gradients from every chunk of channels. With absgrad the sum over chunks is an upper bound: the
        # absolute value of a sum over channels is not the sum of absolute values.
        shapes = pulls if shapes is None else shapes.add_(pulls)
    colored = of_colors[0] if len(of_colors) == 1 else torch.cat(of_colors, dim=-1)
    absolute = shapes[:, SHAPE:ABSOLUTE_SHAPE] if drawing.absgrad else None
    if drawing.by_image and colored.shape != colors.shape:
        colored = colored.view(images, *colors.shape[-2:])
        colored = colored if colors.dim() == 3 else colored.sum(dim=0)
    return shapes, colored, absolute


def _from(tensor: torch.Tensor | None, channel: int) -> torch.Tensor | None:
    return tensor if tensor is None or channel == 0 else tensor[..., channel:]


def _steps(colors: torch.Tensor, drawing: Drawing, images: int) -> tuple[int, int, int]:
    """Gaussians per image, and the strides of colours between images and between Gaussians."""
    if not drawing.by_image:
        return 0, 0, colors.stride(0)
    return drawing.records.shape[0] // max(images, 1), colors.stride(0) if colors.dim() == 3 else 0, colors.stride(-2)


def _summed(pairs: torch.Tensor, gaussians: torch.Tensor, rows: int) -> torch.Tensor:
    """Sums the gradients of pairs by Gaussian, in a fixed order."""
    numbers, order = torch.sort(gaussians, stable=True)
    bounds = torch.searchsorted(
        numbers, torch.arange(rows + 1, dtype=numbers.dtype, device=numbers.device), out_int32=True
    )
    to = pairs.new_zeros((rows, pairs.shape[1]))
    if rows:
        parameters = tuned("raster", "sum_pairs", pairs.device)
        launch(rocm3d_sum_pairs, (rows, 1, 1), (pairs, order, bounds, to), ROW=pairs.shape[1], **parameters)
    return to
