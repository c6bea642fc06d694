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
from rocm3d_kernels.registration import once_differentiable
from rocm3d_kernels.tiles import Lists, counters, intersect
from rocm3d_kernels.tiles.ahead import guessed, known, learn

# Whether somebody goes back twice; where torch cannot tell, what was kept stays as long as the images do.
_goes_back_again = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", lambda: True)


class Rendered(NamedTuple):
    """What came of it, besides the images."""

    seen: projection.Seen
    drawing: Drawing
    colors: torch.Tensor
    values: torch.Tensor | None  # colours of harmonics, for their gradients
    origins: torch.Tensor | None
    drawn: raster.Drawn
    zeros: torch.Tensor | None = None  # to which gradients are added, the first time


def forward(
    gaussians: Gaussians, colors: torch.Tensor, backgrounds: torch.Tensor | None, options: Options, *, keep: bool
) -> Rendered:
    """Renders by the kernels; all tensors are contiguous."""
    settings, images, rows = options.settings, gaussians.viewmats.numel() // 16, gaussians.means.shape[-2]
    size = settings.width, settings.height
    # What is guessed depends on what came before, so it is not for those who want the same every time.
    guess = None if options.deterministic else known(images, rows, size, gaussians.means.device)
    room = _room(images * rows, colors, options) if keep and guess is not None else 0
    clear = 0 if guess is None else _whole(room) + counters(guess.tiles)
    seen = projection.forward(gaussians, settings, count_tiles=True, clear=clear)
    colors, values, origins = _colored(gaussians, colors, seen, options)
    lists = None if guess is None else guessed(seen, size, guess)
    if guess is not None and lists is None:
        # In vain, and nobody summed up what there is.
        seen = projection.forward(gaussians, settings, count_tiles=True)
    drawing = _drawing(seen.records, intersect(seen, *size) if lists is None else lists, options)
    drawn = raster.forward(colors, backgrounds, drawing, keep=keep)
    if lists is None:
        learn(seen, size, drawing.lists)
    zeros = seen.cleared[:room] if seen.cleared is not None and room else None
    return Rendered(seen, drawing, colors, values, origins, drawn, zeros)


def _colored(
    gaussians: Gaussians, colors: torch.Tensor, seen: projection.Seen, options: Options
) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """What is drawn, with depths as the last channel; of harmonics their values, and where the cameras stand."""
    values = origins = None
    if options.degree is not None:
        origins = camera_origins(gaussians.viewmats)
        values = colors = harmonics.forward(
            gaussians.means, origins, colors, seen.radii, _view(gaussians, colors, options)
        )
    if options.with_depths:
        depths = seen.records[..., 6:7]
        depths = _inverse(depths, seen.radii) if options.inverse_depths else depths
        wide = colors if colors.dim() == 3 else colors.expand(seen.records.shape[0], *colors.shape)
        colors = torch.cat([wide, depths], dim=-1) if options.with_colors else depths.contiguous()
    return colors, values, origins


def camera_origins(viewmats: torch.Tensor) -> torch.Tensor:
    """Where the cameras of views [..., 4, 4] stand, whose rotations are rotations: [images, 3]."""
    flat = viewmats.reshape(-1, 4, 4)
    return -(flat[:, :3, :3] * flat[:, :3, 3:]).sum(dim=1)


class Watch:
    """The means in the image, for those who want to see their gradient.

    It lives as long as the images do, so the records, which are large, are not its own.
    """

    def __init__(self, rows: torch.Tensor | None) -> None:
        self.rows = rows
        self.seen: torch.Tensor | None = None

    def leaf(self, records: torch.Tensor) -> torch.Tensor:
        """A tensor that has them, and will have `.grad`; made when it is asked for."""
        if self.seen is None:
            self.seen = records[..., 0:2].detach().requires_grad_()
        return self.seen

    def tell(self, gradients: torch.Tensor, absolute: torch.Tensor | None) -> None:
        """Gradients of all rows, in their first two columns, for those that were kept."""
        if self.seen is None:
            return
        shape, gradient = self.seen.shape, gradients[:, 0:2]
        found = (gradient if self.rows is None else gradient[self.rows]).reshape(shape)
        self.seen.grad = found if self.seen.grad is None else self.seen.grad + found
        if absolute is not None:
            self.seen.absgrad = (absolute if self.rows is None else absolute[self.rows]).reshape(shape)


class Render(torch.autograd.Function):
    """Ties images, which are there already, to what they were made of."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """The images as they are; keeps what the way back needs."""
        *tensors, options, rendered, watch = given
        ctx.save_for_backward(*tensors)
        # Nobody else's, so it may be dropped on the way back, where memory is needed most, and not only after it. The
        # images hold on to this context, so it may not hold on to them.
        ctx.rendered = rendered._replace(drawn=rendered.drawn._replace(image=None, alphas=None))
        ctx.options, ctx.watch = options, watch
        ctx.set_materialize_grads(False)
        return rendered.drawn.image, rendered.drawn.alphas

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor | None, given_alphas: torch.Tensor | None) -> tuple[Any, ...]:
        """Through rasterization, projection and harmonics."""
        watched, *tensors, colors, backgrounds = ctx.saved_tensors
        gaussians, options = Gaussians(*tensors), ctx.options
        needs_watched, *_, needs_views, _, needs_colors, needs_backgrounds = ctx.needs_input_grad[:10]
        if given is None and given_alphas is None:
            return (None,) * 13
        rendered: Rendered = ctx.rendered
        ctx.rendered = rendered._replace(zeros=None) if _goes_back_again() else None
        radii, values, origins = rendered.seen.radii, rendered.values, rendered.origins
        depths = rendered.seen.records[..., 6:7] if options.inverse_depths else None
        drawn = rendered.drawn
        found, of_colors, absolute = raster.backward(
            rendered.colors, backgrounds, rendered.drawing, drawn.through, drawn.last, given, given_alphas,
            rendered.zeros,
        )  # fmt: skip
        of_backgrounds = None
        if needs_backgrounds and given is not None and drawn.through is not None:
            of_backgrounds = (given * drawn.through[..., None]).sum(dim=(1, 2))
        del rendered, drawn
        ctx.watch.tell(found, absolute)
        of_depths = None
        if options.with_depths:
            of_depths = _depths_backward(of_colors[..., -1:], depths, radii)
            of_colors = of_colors[..., :-1]
        grads = list(
            projection.backward(
                gaussians, options.settings, radii, (found, found[:, 2:6], of_depths), of_views=needs_views
            )
        )
        if options.degree is not None:
            of_colors = _through_harmonics(
                grads, gaussians, colors, options, (origins, radii, values, of_colors),
                (ctx.needs_input_grad[1], needs_views),
            )  # fmt: skip
        if not (needs_colors and options.with_colors):
            of_colors = None
        elif of_colors.shape != colors.shape:
            of_colors = of_colors.sum(dim=0)
        of_watched = found[:, 0:2].reshape(watched.shape) if needs_watched else None
        return (of_watched, *grads, None, of_colors, of_backgrounds, None, None, None)


def _room(rows: int, colors: torch.Tensor, options: Options) -> int:
    channels = 0 if not options.with_colors else 3 if options.degree is not None else colors.shape[-1]
    return raster.room(rows, channels + int(options.with_depths), absgrad=options.absgrad)


def _whole(room: int) -> int:
    """What lies behind it begins at a multiple of 16 bytes."""
    return -(-room // 4) * 4


def _inverse(depths: torch.Tensor, radii: torch.Tensor) -> torch.Tensor:
    return torch.where(radii[..., :1] > 0, 1.0 / depths, 0.0)


def _depths_backward(given: torch.Tensor, inverted: torch.Tensor | None, radii: torch.Tensor) -> torch.Tensor:
    """Of the depths, some drawn as one over them, and none of the compensations beside them."""
    if inverted is not None:
        given = -given * _inverse(inverted, radii) ** 2
    return torch.nn.functional.pad(given, (0, 1))


def _through_harmonics(
    grads: list[Any],
    gaussians: Gaussians,
    colors: torch.Tensor,
    options: Options,
    found: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    needs: tuple[bool, bool],
) -> torch.Tensor:
    """Gradients of the coefficients; those of means and views are added to what there is."""
    of_points, of_origins, of_colors = _harmonics_backward(gaussians, colors, options, found, needs)
    if of_points is not None:
        grads[0] += of_points
    if of_origins is not None:
        grads[5] += _origins_backward(gaussians.viewmats, of_origins)
    return of_colors


def _harmonics_backward(
    gaussians: Gaussians,
    colors: torch.Tensor,
    options: Options,
    found: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    needs: tuple[bool, bool],
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor]:
    """Gradients of points, origins and coefficients; `needs`: those of points, and of views."""
    origins, radii, values, given = found
    needs_points, needs_views = needs
    means, cameras, view = gaussians.means, gaussians.viewmats.shape[-3], _view(gaussians, colors, options)
    learns = needs_points or needs_views
    if not options.deterministic or (cameras == 1 and not needs_views):
        return harmonics.backward(
            means, origins, colors, radii, view, values, given,
            of_points=needs_points, of_origins=needs_views,
        )  # fmt: skip
    # Every image by itself, and then sums in a fixed order, where else additions meet in any.
    points = means.unsqueeze(-3).expand(*means.shape[:-2], cameras, *means.shape[-2:]).contiguous()
    own = colors if view.per_image else colors.unsqueeze(-4).expand(*points.shape[:-1], *colors.shape[-2:]).contiguous()
    of_points, _, of_own = harmonics.backward(
        points, origins, own, radii, view._replace(cameras=1), values, given, of_points=learns, of_origins=False
    )
    of_origins = None if of_points is None else -of_points.sum(dim=-2).view(-1, 3)
    of_points = None if of_points is None else of_points.sum(dim=-3)
    return of_points, of_origins if needs_views else None, of_own if view.per_image else of_own.sum(dim=-4)


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
