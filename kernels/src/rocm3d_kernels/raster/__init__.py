"""Rasterizes projected Gaussians front to back, with gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.projection import Projected
from rocm3d_kernels.registration import once_differentiable
from rocm3d_kernels.tiles import Lists


class Drawing(NamedTuple):
    """Inputs of the rasterizer that need no gradient."""

    records: torch.Tensor  # [rows, 8]
    lists: Lists
    width: int
    height: int
    by_image: bool = True
    masks: torch.Tensor | None = None
    absgrad: bool = False
    deterministic: bool = False
    cap: float = LARGEST_ALPHA


def draw(
    projected: Projected | None, colors: torch.Tensor, backgrounds: torch.Tensor | None, drawing: Drawing
) -> tuple[torch.Tensor, torch.Tensor]:
    """Images [images, height, width, D] and alphas [images, height, width].

    `projected` are the records as differentiable tensors. Colours are [N, D] for all images, [images, N, D], or one row
    per record if `by_image` is false.
    """
    from rocm3d_kernels.raster import launch

    colors = colors if colors.stride(-1) == 1 else colors.contiguous()
    backgrounds = None if backgrounds is None else backgrounds.contiguous()
    learns = torch.is_grad_enabled() and (
        projected is not None or colors.requires_grad or (backgrounds is not None and backgrounds.requires_grad)
    )
    drawn = launch.forward(colors, backgrounds, drawing, keep=learns)
    if not learns:
        return drawn.image, drawn.alphas
    means2d, shapes = (None, None) if projected is None else projected[:2]
    image, alphas = _Draw.apply(means2d, shapes, colors, backgrounds, drawing, drawn)
    return image, alphas


class _Draw(torch.autograd.Function):
    """Connects the image, which is rendered already, to its inputs."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
        means2d, shapes, colors, backgrounds, drawing, drawn = given
        # Saved instead of set on ctx, so that they are freed as soon as this backward is done.
        ctx.save_for_backward(means2d, shapes, colors, backgrounds, drawn.through, drawn.last)
        ctx.drawing = drawing
        ctx.set_materialize_grads(False)
        return drawn.image, drawn.alphas

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor | None, given_alphas: torch.Tensor | None) -> tuple[Any, ...]:
        from rocm3d_kernels.raster import launch

        means2d, shapes, colors, backgrounds, through, last = ctx.saved_tensors
        if given is None and given_alphas is None:
            return (None,) * 6
        found, of_colors, absolute = launch.backward(
            colors, backgrounds, ctx.drawing, through, last, given, given_alphas
        )
        if absolute is not None and means2d is not None:
            means2d.absgrad = absolute.view(means2d.shape)
        of_backgrounds = None
        if ctx.needs_input_grad[3] and given is not None:
            of_backgrounds = (given * through[..., None]).sum(dim=(1, 2))
        if means2d is None:
            return None, None, of_colors, of_backgrounds, None, None
        of_means2d, of_shapes = found[:, 0:2].view(means2d.shape), found[:, 2:6].view(shapes.shape)
        return of_means2d, of_shapes, of_colors, of_backgrounds, None, None
