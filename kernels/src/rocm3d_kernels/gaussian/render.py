"""The whole way from Gaussians to images as one step of autograd.

One step instead of four: the time that PyTorch spends between them on the CPU would exceed that of a small scene on the
GPU. Training strategies watch the gradient of the means in the image: it is put there by hand for those who look.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from rocm3d_kernels.gaussian.options import Options
from rocm3d_kernels.harmonics import launch as harmonics
from rocm3d_kernels.projection import Gaussians
from rocm3d_kernels.projection import launch as projection
from rocm3d_kernels.raster import Drawing
from rocm3d_kernels.raster import launch as raster
from rocm3d_kernels.tiles import Lists, intersect


class Rendered(NamedTuple):
    """What came of it, besides the images."""

    seen: projection.Seen
    lists: Lists
    colors: torch.Tensor
    values: torch.Tensor | None  # colours of harmonics, for their gradients
    origins: torch.Tensor | None
    drawn: raster.Drawn


def forward(
    gaussians: Gaussians, colors: torch.Tensor, backgrounds: torch.Tensor | None, options: Options, *, keep: bool
) -> Rendered:
    """Renders by the kernels; all tensors are contiguous."""
    settings, images = options.settings, gaussians.viewmats.numel() // 16
    seen = projection.forward(gaussians, settings, count_tiles=True)
    values = origins = None
    if options.degree is not None:
        origins = camera_origins(gaussians.viewmats)
        values = colors = harmonics.forward(
            gaussians.means, origins, colors, seen.radii, _view(gaussians, colors, options)
        )
    if options.with_depths:
        depths = _depth_channel(seen.records, seen.radii, options)
        wide = colors if colors.dim() == 3 else colors.expand(images, *colors.shape)
        colors = torch.cat([wide, depths], dim=-1) if options.with_colors else depths.contiguous()
    lists = intersect(seen, settings.width, settings.height)
    drawn = raster.forward(colors, backgrounds, _drawing(seen.records, lists, options), keep=keep)
    return Rendered(seen, lists, colors, values, origins, drawn)


def camera_origins(viewmats: torch.Tensor) -> torch.Tensor:
    """Where the cameras of views [..., 4, 4] stand, whose rotations are rotations: [images, 3]."""
    flat = viewmats.reshape(-1, 4, 4)
    return -(flat[:, :3, :3] * flat[:, :3, 3:]).sum(dim=1)


class Watch:
    """The means in the image, for those who want to see their gradient."""

    def __init__(self, records: torch.Tensor, rows: torch.Tensor | None) -> None:
        self.records, self.rows = records, rows
        self.seen: torch.Tensor | None = None

    def leaf(self) -> torch.Tensor:
        """A tensor that has them, and will have `.grad`; made when it is asked for."""
        if self.seen is None:
            self.seen = self.records[..., 0:2].detach().requires_grad_()
        return self.seen

    def tell(self, gradient: torch.Tensor, absolute: torch.Tensor | None) -> None:
        """Gradients of all rows, for those that were kept."""
        if self.seen is None:
            return
        shape = self.seen.shape
        found = (gradient if self.rows is None else gradient[self.rows]).reshape(shape)
        self.seen.grad = found if self.seen.grad is None else self.seen.grad + found
        if absolute is not None:
            self.seen.absgrad = (absolute if self.rows is None else absolute[self.rows]).reshape(shape)


class Render(torch.autograd.Function):
    """Ties images, which are there already, to what they were made of."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """The images as they are; keeps what the way back needs."""
        watched, *gaussians, colors, backgrounds, options, rendered, watch = given
        seen, lists, drawn_colors, values, origins, drawn = rendered
        # Saved, not kept on the context: so they are freed as soon as the way back is done.
        ctx.save_for_backward(
            watched, *gaussians, colors, backgrounds, seen.records, seen.radii, lists.gaussians, lists.offsets,
            drawn_colors, values, origins, drawn.through, drawn.last,
        )  # fmt: skip
        ctx.options, ctx.watch, ctx.lists = options, watch, (lists.side, lists.tiles_x, lists.tiles_y)
        ctx.set_materialize_grads(False)
        return drawn.image, drawn.alphas

    @staticmethod
    def backward(ctx: Any, given: torch.Tensor | None, given_alphas: torch.Tensor | None) -> tuple[Any, ...]:
        """Through rasterization, projection and harmonics."""
        # once_differentiable says so, too, but takes long.
        if torch.is_grad_enabled():
            raise NotImplementedError("gaussian: no gradients of gradients")
        saved = ctx.saved_tensors
        gaussians, (colors, backgrounds, records, radii) = Gaussians(*saved[1:8]), saved[8:12]
        options: Options = ctx.options
        needs = dict(zip(("means2d", *Gaussians._fields, "colors", "backgrounds"), ctx.needs_input_grad, strict=False))
        if given is None and given_alphas is None:
            return (None,) * 13
        lists = Lists(saved[12], saved[13], *ctx.lists)
        drawn_colors, values, origins, through, last = saved[14:]
        found, of_colors, absolute = raster.backward(
            drawn_colors, backgrounds, _drawing(records, lists, options), through, last, given, given_alphas
        )
        of_means2d = found[:, 0:2].view(*records.shape[:2], 2)
        ctx.watch.tell(found[:, 0:2], absolute)
        of_backgrounds = None
        if needs["backgrounds"] and given is not None:
            of_backgrounds = (given * through[..., None]).sum(dim=(1, 2))
        of_depths = None
        if options.with_depths:
            of_depths = _depths_backward(of_colors[..., -1:], records, radii, options)
            of_colors = of_colors[..., :-1]
        of_shapes = found[:, 2:6].view(*records.shape[:2], 4)
        grads = list(
            projection.backward(
                gaussians,
                options.settings,
                records,
                radii,
                (of_means2d, of_shapes, of_depths),
                of_views=needs["viewmats"],
            )
        )
        if options.degree is not None:
            of_points, of_origins, of_colors = _harmonics_backward(
                gaussians, colors, options, (origins, radii, values, of_colors), needs
            )
            if of_points is not None:
                grads[0] += of_points
            if of_origins is not None:
                grads[5] += _origins_backward(gaussians.viewmats, of_origins)
        elif needs["colors"] and options.with_colors:
            of_colors = of_colors if of_colors.shape == colors.shape else of_colors.sum(dim=0)
        if not (needs["colors"] and options.with_colors):
            of_colors = None
        of_watched = of_means2d.reshape(saved[0].shape) if needs["means2d"] else None
        return (of_watched, *grads, None, of_colors, of_backgrounds, None, None, None)


def _depth_channel(records: torch.Tensor, radii: torch.Tensor, options: Options) -> torch.Tensor:
    depths = records[..., 6:7]
    return torch.where(radii[..., :1] > 0, 1.0 / depths, 0.0) if options.inverse_depths else depths


def _depths_backward(given: torch.Tensor, records: torch.Tensor, radii: torch.Tensor, options: Options) -> torch.Tensor:
    """Of the depths, and none of the compensations beside them."""
    if options.inverse_depths:
        given = -given * _depth_channel(records, radii, options) ** 2
    return torch.nn.functional.pad(given, (0, 1))


def _harmonics_backward(
    gaussians: Gaussians,
    colors: torch.Tensor,
    options: Options,
    found: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    needs: dict[str, bool],
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor]:
    """Gradients of points, origins and coefficients."""
    origins, radii, values, given = found
    means, cameras, view = gaussians.means, gaussians.viewmats.shape[-3], _view(gaussians, colors, options)
    learns = needs["means"] or needs["viewmats"]
    if not options.deterministic or (cameras == 1 and not needs["viewmats"]):
        return harmonics.backward(
            means, origins, colors, radii, view, values, given,
            of_points=needs["means"], of_origins=needs["viewmats"],
        )  # fmt: skip
    # Every image by itself, and then sums in a fixed order, where else additions meet in any.
    points = means.unsqueeze(-3).expand(*means.shape[:-2], cameras, *means.shape[-2:]).contiguous()
    own = colors if view.per_image else colors.unsqueeze(-4).expand(*points.shape[:-1], *colors.shape[-2:]).contiguous()
    of_points, _, of_own = harmonics.backward(
        points, origins, own, radii, view._replace(cameras=1), values, given, of_points=learns, of_origins=False
    )
    of_origins = None if of_points is None else -of_points.sum(dim=-2).view(-1, 3)
    of_points = None if of_points is None else of_points.sum(dim=-3)
    return of_points, of_origins if needs["viewmats"] else None, of_own if view.per_image else of_own.sum(dim=-4)


def _view(gaussians: Gaussians, colors: torch.Tensor, options: Options) -> harmonics.View:
    cameras = gaussians.viewmats.shape[-3]
    return harmonics.View(
        options.degree or 0, cameras, as_colors=True, per_image=colors.dim() > gaussians.means.dim() + 1
    )


def _drawing(records: torch.Tensor, lists: Lists, options: Options) -> Drawing:
    settings = options.settings
    return Drawing(
        records.view(-1, records.shape[-1]), lists, settings.width, settings.height,
        absgrad=options.absgrad, deterministic=options.deterministic, cap=options.cap,
    )  # fmt: skip


def _origins_backward(viewmats: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        views = viewmats.detach().requires_grad_()
        (found,) = torch.autograd.grad(camera_origins(views), views, given)
    return found
