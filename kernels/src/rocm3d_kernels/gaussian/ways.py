"""Dispatches a rendering to the kernels, the reference or, under tracing, the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from rocm3d_kernels.dispatch import choose
from rocm3d_kernels.gaussian import reference
from rocm3d_kernels.gaussian.meta import Meta
from rocm3d_kernels.gaussian.options import Options
from rocm3d_kernels.projection import Gaussians
from rocm3d_kernels.registration import _traced as traced

if TYPE_CHECKING:
    from rocm3d_kernels.tiles import Lists


def rendered(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: Options,
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

        return operator.rendered(gaussians, colors, backgrounds, options, packed=packed, watched=watched)
    return chosen(gaussians, colors, backgrounds, options, packed=packed, watched=watched)


def chosen(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: Options,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, Meta]:
    run = _by_reference if choose("gaussian", gaussians.means) == "reference" else _by_kernels
    return run(gaussians, colors, backgrounds, options, packed=packed, watched=watched)


def _by_kernels(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: Options,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, Meta]:
    from rocm3d_kernels.gaussian import render  # noqa: PLC0415

    learning = (*gaussians[:6], colors, backgrounds, watched)
    learns = torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in learning)
    rendered, *images = render.forward(gaussians, colors, backgrounds, options, keep=learns)
    told, rows = rendered.told, None
    kept: Callable[[], torch.Tensor] = lambda: told.records  # noqa: E731
    if packed:
        rows = torch.nonzero(told.radii.view(-1, 2)[:, 0] > 0)[:, 0]
        chosen = told.records.view(-1, 8)[rows]
        kept = lambda: chosen  # noqa: E731
    watch = render.Watch(rows)
    image, alphas = images
    if learns:
        image, alphas = render.Render.apply(watched, *gaussians, colors, backgrounds, options, rendered, watch, images)
    meta = Meta(
        means2d=lambda: watch.leaf(kept()) if learns and watched is None else kept()[..., 0:2],
        radii=lambda: told.radii if rows is None else told.radii.view(-1, 2)[rows],
        conics=lambda: kept()[..., 2:5],
        opacities=lambda: kept()[..., 5],
        depths=lambda: kept()[..., 6],
        flatten_ids=lambda: told.lists.packed().gaussians,
        isect_offsets=lambda: _offsets(told.lists.packed()),
        tile_size=lambda: told.lists.side,
        tile_width=lambda: told.lists.tiles_x,
        tile_height=lambda: told.lists.tiles_y,
    )
    _number(meta, rows, gaussians)
    return image, alphas, meta


def _offsets(lists: Lists) -> torch.Tensor:
    return lists.offsets[:-1].view(-1, lists.tiles_y, lists.tiles_x)


def _by_reference(
    gaussians: Gaussians,
    colors: torch.Tensor,
    backgrounds: torch.Tensor | None,
    options: Options,
    *,
    packed: bool,
    watched: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor, Meta]:
    if options.absgrad:
        raise NotImplementedError("gaussian: the reference does not support absgrad; use the kernels")
    image, alphas, found, opacities = reference.render(gaussians, colors, backgrounds, options, watched)
    rows = torch.nonzero(found.radii.reshape(-1, 2)[:, 0] > 0)[:, 0] if packed else None

    def kept(one: torch.Tensor) -> torch.Tensor:
        return one if rows is None else one.flatten(0, 1)[rows]

    meta = Meta(
        means2d=kept(found.means2d), radii=kept(found.radii), conics=kept(found.conics), depths=kept(found.depths),
        opacities=kept(opacities),
    )  # fmt: skip
    _number(meta, rows, gaussians)
    return image, alphas, meta


def _number(meta: Meta, rows: torch.Tensor | None, gaussians: Gaussians) -> None:
    """Adds batch, camera and Gaussian index of each packed row; None if not packed."""
    count, cameras = gaussians.means.shape[-2], gaussians.viewmats.shape[-3]
    if rows is None:
        meta.update(batch_ids=None, camera_ids=None, gaussian_ids=None)
        return
    meta.update(
        batch_ids=rows // (count * cameras), camera_ids=rows // count % cameras, gaussian_ids=rows % count,
    )  # fmt: skip
