"""Rasterizes projected Gaussians front to back, with gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from rocm3d_kernels.image_formation import LARGEST_ALPHA
from rocm3d_kernels.projection import Projected
from rocm3d_kernels.registration import once_differentiable
from rocm3d_kernels.tiles import TileLists


class RasterInputs(NamedTuple):
    """Inputs of the rasterizer that need no gradient."""

    records: torch.Tensor  # [rows, 8]
    lists: TileLists
    width: int
    height: int
    by_image: bool = True
    masks: torch.Tensor | None = None
    absgrad: bool = False
    deterministic: bool = False
    cap: float = LARGEST_ALPHA


def draw(
    projected: Projected | None, colors: torch.Tensor, backgrounds: torch.Tensor | None, inputs: RasterInputs
) -> tuple[torch.Tensor, torch.Tensor]:
    """Images [images, height, width, D] and alphas [images, height, width].

    `projected` are the records as differentiable tensors. Colours are [N, D] for all images, [images, N, D], or one row
    per record if `by_image` is false.
    """
    from rocm3d_kernels.raster import launch

    colors = colors if colors.stride(-1) == 1 else colors.contiguous()
    backgrounds = None if backgrounds is None else backgrounds.contiguous()
    needs_grad = torch.is_grad_enabled() and (
        projected is not None or colors.requires_grad or (backgrounds is not None and backgrounds.requires_grad)
    )
    outputs = launch.forward(colors, backgrounds, inputs, keep=needs_grad)
    if not needs_grad:
        return outputs.image, outputs.alphas
    means2d, shapes = (None, None) if projected is None else projected[:2]
    image, alphas = _DrawFunction.apply(means2d, shapes, colors, backgrounds, inputs, outputs)
    return image, alphas


class _DrawFunction(torch.autograd.Function):
    """Connects the image, which is rendered already, to its inputs."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[torch.Tensor, torch.Tensor]:
        means2d, shapes, colors, backgrounds, inputs, outputs = arguments
        # Saved instead of set on ctx, so that they are freed as soon as this backward is done.
        ctx.save_for_backward(means2d, shapes, colors, backgrounds, outputs.transmittance, outputs.last)
        ctx.drawing = inputs
        ctx.set_materialize_grads(False)
        return outputs.image, outputs.alphas

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, v_image: torch.Tensor | None, v_alphas: torch.Tensor | None) -> tuple[Any, ...]:
        from rocm3d_kernels.raster import launch

        means2d, shapes, colors, backgrounds, T, last = ctx.saved_tensors
        if v_image is None and v_alphas is None:
            return (None,) * 6
        v_records, v_colors, absgrad = launch.backward(colors, backgrounds, ctx.drawing, T, last, v_image, v_alphas)
        if absgrad is not None and means2d is not None:
            means2d.absgrad = absgrad.view(means2d.shape)
        v_backgrounds = None
        if ctx.needs_input_grad[3] and v_image is not None:
            v_backgrounds = (v_image * T[..., None]).sum(dim=(1, 2))
        if means2d is None:
            return None, None, v_colors, v_backgrounds, None, None
        v_means2d, v_shapes = v_records[:, 0:2].view(means2d.shape), v_records[:, 2:6].view(shapes.shape)
        return v_means2d, v_shapes, v_colors, v_backgrounds, None, None
