"""Starts the kernels of rasterization, four colour channels at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from rocm3d_kernels.launching import launch
from rocm3d_kernels.raster.triton import SHAPE, rocm3d_raster_backward, rocm3d_raster_forward, rocm3d_sum_pairs
from rocm3d_kernels.tuning import tuned

if TYPE_CHECKING:
    from rocm3d_kernels.raster import Drawing

CHUNK = 4
SHORT = 2**15


class Drawn(NamedTuple):
    """Pictures, and what the way back needs: the light that came through, and the last Gaussian of each pixel."""

    image: torch.Tensor
    alphas: torch.Tensor
    through: torch.Tensor | None
    last: torch.Tensor | None


def forward(colors: torch.Tensor, backgrounds: torch.Tensor | None, drawing: Drawing, *, keep: bool) -> Drawn:
    """Draws all images; keeps what the way back needs."""
    lists, device = drawing.lists, colors.device
    tiles = lists.tiles
    images, channels = tiles // (lists.tiles_x * lists.tiles_y), colors.shape[-1]
    shape = (images, drawing.height, drawing.width)
    image = torch.empty((*shape, channels), device=device)
    alphas = torch.empty(shape, device=device)
    through = torch.empty(shape, device=device) if keep else None
    # Within the list of its tile: short where all lists are.
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
    zeros: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Gradients of shapes [rows, 6 or more], of colours, and absolute ones of the means where they are wanted.

    `zeros`: as many as `room` says, to add them to.
    """
    lists, channels, rows = drawing.lists, colors.shape[-1], drawing.records.shape[0]
    given = through.new_zeros((*through.shape, channels)) if given is None else given.contiguous()
    given_alphas = None if given_alphas is None else given_alphas.contiguous()
    images = through.shape[0]
    per_image, step, row = _steps(colors, drawing, images)
    parameters = tuned("raster", "raster_backward", colors.device)
    shapes: Any = None
    of_colors = []
    for at in range(0, channels, CHUNK):
        deep = min(CHUNK, channels - at)
        wide = _wide(deep, absgrad=drawing.absgrad)
        if zeros is None:
            found = through.new_zeros((lists.gaussians.shape[0] if drawing.deterministic else rows, wide))
        else:
            found = zeros.view(rows, wide)
        arguments = (
            drawing.records, _from(colors, at), lists.gaussians, lists.offsets, _from(backgrounds, at), through, last,
            _from(given, at), given_alphas, found, per_image, step, drawing.width, drawing.height,
            lists.tiles_x, lists.tiles_x * lists.tiles_y, channels,
        )  # fmt: skip
        launch(
            rocm3d_raster_backward, (lists.tiles, 1, 1), arguments,
            COLOR_ROW=row, D=deep, HAS_BACKGROUND=backgrounds is not None,
            HAS_ALPHAS=given_alphas is not None and at == 0, ABSOLUTE=drawing.absgrad, PER_PAIR=drawing.deterministic,
            CAP=drawing.cap, TILE=lists.side, SLOTS=lists.slots, **parameters,
        )  # fmt: skip
        if drawing.deterministic:
            found = _summed(found, lists.gaussians, rows)
        of_colors.append(found[:, SHAPE : SHAPE + deep])
        # Every channel pulls at the same shapes, whatever chunk it is in.
        shapes = found if shapes is None else _added(shapes, found, absgrad=drawing.absgrad)
    colored = of_colors[0] if len(of_colors) == 1 else torch.cat(of_colors, dim=-1)
    absolute = shapes[:, -2:] if drawing.absgrad else None
    if drawing.by_image and colored.shape != colors.shape:
        colored = colored.view(images, *colors.shape[-2:])
        colored = colored if colors.dim() == 3 else colored.sum(dim=0)
    return shapes, colored, absolute


def room(rows: int, channels: int, *, absgrad: bool) -> int:
    """How many zeros the gradients of so many rows are added to; 0 where they are made in several turns."""
    return rows * _wide(channels, absgrad=absgrad) if channels <= CHUNK else 0


def _wide(channels: int, *, absgrad: bool) -> int:
    return SHAPE + channels + (2 if absgrad else 0)


def _from(tensor: torch.Tensor | None, channel: int) -> torch.Tensor | None:
    return tensor if tensor is None or channel == 0 else tensor[..., channel:]


def _steps(colors: torch.Tensor, drawing: Drawing, images: int) -> tuple[int, int, int]:
    """Gaussians per image, and how far apart the colours of images and of Gaussians lie."""
    if not drawing.by_image:
        return 0, 0, colors.stride(0)
    return drawing.records.shape[0] // max(images, 1), colors.stride(0) if colors.dim() == 3 else 0, colors.stride(-2)


def _added(first: torch.Tensor, second: torch.Tensor, *, absgrad: bool) -> torch.Tensor:
    first[:, :SHAPE] += second[:, :SHAPE]
    if absgrad:
        # The absolute value of a sum of channels is not the sum of theirs; an upper bound is what there is.
        first[:, -2:] += second[:, -2:]
    return first


def _summed(pairs: torch.Tensor, gaussians: torch.Tensor, rows: int) -> torch.Tensor:
    """Gradients of pairs summed by Gaussian, in the same order every time."""
    numbers, order = torch.sort(gaussians, stable=True)
    bounds = torch.searchsorted(
        numbers, torch.arange(rows + 1, dtype=numbers.dtype, device=numbers.device), out_int32=True
    )
    to = pairs.new_zeros((rows, pairs.shape[1]))
    if rows:
        parameters = tuned("raster", "sum_pairs", pairs.device)
        launch(rocm3d_sum_pairs, (rows, 1, 1), (pairs, order, bounds, to), ROW=pairs.shape[1], **parameters)
    return to
