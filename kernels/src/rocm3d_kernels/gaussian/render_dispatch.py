"""Dispatches a rendering to the kernels, the reference or, under tracing, the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from rocm3d_kernels.dispatch import choose
from rocm3d_kernels.gaussian import reference
from rocm3d_kernels.gaussian.meta import LazyMeta
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.memory import check_images_fit
from rocm3d_kernels.projection import Gaussians
from rocm3d_kernels.registration import is_traced as traced

if TYPE_CHECKING:
    from rocm3d_kernels.tiles import TileLists


def rasterize(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: RenderOptions,
    *,
    packed: bool = False,
    watched: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
    """Images, alphas and a meta dict, from contiguous tensors.

    `watched` receives the gradient of means2d in pixels; its value is not used. Without it, meta["means2d"] has that
    gradient as `.grad` after backward, if it was accessed before.
    """
    if traced((*gaussians, colors, backgrounds, watched)) or gaussians.means.is_meta:
        from rocm3d_kernels.gaussian import operator  # noqa: PLC0415

        return operator.rasterize_traced(gaussians, colors, backgrounds, options, packed=packed, watched=watched)
    return rasterize_eager(gaussians, colors, backgrounds, options, packed=packed, watched=watched)


def rasterize_eager(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: RenderOptions,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, LazyMeta]:
    settings, views = options.settings, gaussians.viewmats
    channels = (colors.shape[-1] if options.degree is None else 3) + 1  # colours and alpha
    check_images_fit("gaussian", views.numel() // 16, settings.width, settings.height, channels, views.device)
    run = _rasterize_with_reference if choose("gaussian", gaussians.means) == "reference" else _rasterize_with_kernels
    return run(gaussians, colors, backgrounds, options, packed=packed, watched=watched)


def _rasterize_with_kernels(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: RenderOptions,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, LazyMeta]:
    from rocm3d_kernels.gaussian import render  # noqa: PLC0415

    inputs = (*gaussians[:6], colors, backgrounds, watched)
    needs_grad = torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in inputs)
    rendering, *images = render.forward(gaussians, colors, backgrounds, options, keep=needs_grad)
    outputs, rows = rendering.outputs, None
    get_records: Callable[[], torch.Tensor] = lambda: outputs.records  # noqa: E731
    if packed:
        rows = torch.nonzero(outputs.radii.view(-1, 2)[:, 0] > 0)[:, 0]
        packed_records = outputs.records.view(-1, 8)[rows]
        get_records = lambda: packed_records  # noqa: E731
    gradient = render.Means2dGradient(rows)
    image, alphas = images
    if needs_grad:
        image, alphas = render.RenderFunction.apply(
            watched, *gaussians, colors, backgrounds, options, rendering, gradient, images
        )
    meta = LazyMeta(
        means2d=lambda: gradient.leaf(get_records()) if needs_grad and watched is None else get_records()[..., 0:2],
        radii=lambda: outputs.radii if rows is None else outputs.radii.view(-1, 2)[rows],
        conics=lambda: get_records()[..., 2:5],
        opacities=lambda: get_records()[..., 5],
        depths=lambda: get_records()[..., 6],
        flatten_ids=lambda: outputs.lists.packed().gaussians,
        isect_offsets=lambda: _offsets(outputs.lists.packed()),
        tile_size=lambda: outputs.lists.side,
        tile_width=lambda: outputs.lists.tiles_x,
        tile_height=lambda: outputs.lists.tiles_y,
    )
    _add_ids(meta, rows, gaussians)
    return image, alphas, meta


def _offsets(lists: TileLists) -> torch.Tensor:
    return lists.offsets[:-1].view(-1, lists.tiles_y, lists.tiles_x)


def _rasterize_with_reference(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: RenderOptions,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, LazyMeta]:
    if options.absgrad:
        raise NotImplementedError("gaussian: the reference does not support absgrad; use the kernels")
    image, alphas, projected, opacities = reference.render(gaussians, colors, backgrounds, options, watched)
    rows = torch.nonzero(projected.radii.reshape(-1, 2)[:, 0] > 0)[:, 0] if packed else None

    def select_rows(one: torch.Tensor) -> torch.Tensor:
        return one if rows is None else one.flatten(0, 1)[rows]

    meta = LazyMeta(
        means2d=select_rows(projected.means2d),
        radii=select_rows(projected.radii),
        conics=select_rows(projected.conics),
        depths=select_rows(projected.depths),
        opacities=select_rows(opacities),
    )
    _add_ids(meta, rows, gaussians)
    return image, alphas, meta


def _add_ids(meta: LazyMeta, rows: torch.Tensor | None, gaussians: Gaussians) -> None:
    """Adds batch, camera and Gaussian index of each packed row; None if not packed."""
    count, cameras = gaussians.means.shape[-2], gaussians.viewmats.shape[-3]
    if rows is None:
        meta.update(batch_ids=None, camera_ids=None, gaussian_ids=None)
        return
    meta.update(
        batch_ids=rows // (count * cameras), camera_ids=rows // count % cameras, gaussian_ids=rows % count,
    )  # fmt: skip
