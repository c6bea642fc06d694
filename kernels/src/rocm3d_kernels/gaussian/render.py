"""Projection, colours, tile lists and rasterization as one autograd function.

One function instead of four: between them PyTorch would spend more CPU time than a small scene takes on the GPU.
Training strategies read the gradient of means2d; it is stored on that tensor by hand if somebody accessed it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from rocm3d_kernels.gaussian.options import Options
from rocm3d_kernels.gaussian.small import MOST_CHANNELS, Small, planned
from rocm3d_kernels.harmonics import launch as harmonics
from rocm3d_kernels.projection import Gaussians, Settings
from rocm3d_kernels.projection import launch as projection
from rocm3d_kernels.raster import Drawing
from rocm3d_kernels.raster import launch as raster
from rocm3d_kernels.registration import once_differentiable
from rocm3d_kernels.tiles import Lists, intersect
from rocm3d_kernels.tiles.ahead import known, learn

# Whether backward runs with retain_graph; if torch cannot tell, saved tensors live as long as the images.
_goes_back_again = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", lambda: True)


class Told(NamedTuple):
    """Projected Gaussians and tile lists of a rendering."""

    records: torch.Tensor  # [images, N, 8]
    radii: torch.Tensor  # int32 [images, N, 2]
    lists: Lists


class Whole:
    """One rendering with its state for backward, for scenes of any size; same interface as SmallRendering."""

    __slots__ = ("_drawing", "_seen", "_through_last", "colors", "origins", "radii", "records", "values")

    def __init__(self, gaussians: Gaussians, settings: Settings) -> None:
        self._seen: Any = projection.forward(gaussians, settings, count_tiles=True)
        self.records: Any = self._seen.records
        self.radii = self._seen.radii
        self._drawing: Any = None
        self._through_last: Any = None
        self.colors: Any = None
        self.values: torch.Tensor | None = None
        self.origins: torch.Tensor | None = None

    @property
    def told(self) -> Told:
        """Available after `draw`."""
        return Told(self.records, self.radii, self._drawing.lists)

    @property
    def through(self) -> torch.Tensor:
        """Final transmittance T by pixel; only if `draw` ran with `keep`."""
        through: torch.Tensor = self._through_last[0]
        return through

    def draw(
        self, backgrounds: torch.Tensor | None, options: Options, *, keep: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Images [images, height, width, D] and alphas [images, height, width]."""
        size = options.settings.width, options.settings.height
        lists = intersect(self._seen, *size)
        self._drawing = Drawing(
            self.records.view(-1, self.records.shape[-1]), lists, *size,
            absgrad=options.absgrad, deterministic=options.deterministic, cap=options.cap,
        )  # fmt: skip
        image, alphas, *self._through_last = raster.forward(self.colors, backgrounds, self._drawing, keep=keep)
        if not options.deterministic:
            learn(self._seen, size, lists)
        self._seen = None
        return image, alphas

    def draw_back(
        self,
        backgrounds: torch.Tensor | None,
        given: torch.Tensor | None,
        given_alphas: torch.Tensor | None,
        *,
        again: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of the shapes, [rows, 6 or 8] in the layout of the kernel, and of the colours.

        Without `retain_graph` saved tensors are freed before backward needs more memory.
        """
        through, last = self._through_last
        shapes, of_colors, _ = raster.backward(
            self.colors, backgrounds, self._drawing, through, last, given, given_alphas
        )
        if not again:
            self._drawing = self._through_last = self.colors = None
        return shapes, of_colors

    def project_back(
        self,
        gaussians: Gaussians,
        settings: Settings,
        shapes: torch.Tensor,
        of_depths: torch.Tensor | None,
        *,
        of_views: bool,
    ) -> tuple[torch.Tensor | None, ...]:
        """Gradients of means, covars, quats, scales, opacities and viewmats."""
        if self._drawing is None:
            self.records = None
        given = (shapes, shapes, of_depths)
        return projection.backward(gaussians, settings, self.radii, given, of_views=of_views, shapes_at=2)


def forward(
    gaussians: Gaussians, colors: torch.Tensor, backgrounds: torch.Tensor | None, options: Options, *, keep: bool
) -> tuple[Whole | Small, torch.Tensor, torch.Tensor]:
    """Renders with the kernels; all tensors are contiguous."""
    small = None if options.deterministic else _small(gaussians, colors, options, keep=keep)
    if small is not None:
        _color(small, gaussians, colors, options)
        if small.fits():
            return small, *small.draw(backgrounds)
    whole = Whole(gaussians, options.settings)
    _color(whole, gaussians, colors, options)
    return whole, *whole.draw(backgrounds, options, keep=keep)


def _small(gaussians: Gaussians, colors: torch.Tensor, options: Options, *, keep: bool) -> Small | None:
    """None without a guess. A guess depends on earlier renderings, so the deterministic mode does not use it."""
    means, views, settings = gaussians.means, gaussians.viewmats, options.settings
    images, count, device = views.numel() // 16, means.shape[-2], means.device
    guess = known(images, count, (settings.width, settings.height), device)
    channels = 0 if not options.with_colors else 3 if options.degree is not None else colors.shape[-1]
    channels += int(options.with_depths)
    if guess is None or channels > MOST_CHANNELS or gaussians.opacities is None:
        return None
    from_covars = gaussians.covars is not None
    plan = planned(options, guess, images, views.shape[-3], count, channels, from_covars, keep, device)
    return Small(plan, gaussians)


def _color(rendered: Whole | Small, gaussians: Gaussians, colors: torch.Tensor, options: Options) -> None:
    """Sets the colours to rasterize, with depths as the last channel; with harmonics also their values and origins."""
    if options.degree is not None:
        rendered.origins = camera_origins(gaussians.viewmats)
        rendered.values = colors = harmonics.forward(
            gaussians.means, rendered.origins, colors, rendered.radii, _view(gaussians, colors, options)
        )
    if options.with_depths:
        depths = rendered.records[..., 6:7]
        depths = _inverse(depths, rendered.radii) if options.inverse_depths else depths
        wide = colors if colors.dim() == 3 else colors.expand(depths.shape[0], *colors.shape)
        colors = torch.cat([wide, depths], dim=-1) if options.with_colors else depths.contiguous()
    rendered.colors = colors


def camera_origins(viewmats: torch.Tensor) -> torch.Tensor:
    """Camera centres [images, 3] of views [..., 4, 4], whose upper left 3 x 3 must be rotations."""
    flat = viewmats.reshape(-1, 4, 4)
    return -(flat[:, :3, :3] * flat[:, :3, 3:]).sum(dim=1)


class Watch:
    """means2d of a rendering, which receives `.grad` and `.absgrad` in backward.

    It lives as long as the images, so it does not hold the records, which are large.
    """

    def __init__(self, rows: torch.Tensor | None) -> None:
        self.rows = rows
        self.seen: torch.Tensor | None = None

    def leaf(self, records: torch.Tensor) -> torch.Tensor:
        """The leaf tensor means2d, created on first access."""
        if self.seen is None:
            self.seen = records[..., 0:2].detach().requires_grad_()
        return self.seen

    def tell(self, gradients: torch.Tensor, *, absolute: bool) -> None:
        """Stores gradients [rows, 6 or 8] of the kernel on means2d, if it was accessed."""
        if self.seen is None:
            return
        found = self._of_kept(gradients[:, 0:2])
        self.seen.grad = found if self.seen.grad is None else self.seen.grad + found
        if absolute:
            self.seen.absgrad = self._of_kept(gradients[:, 6:8])

    def _of_kept(self, gradients: torch.Tensor) -> torch.Tensor:
        assert self.seen is not None
        return (gradients if self.rows is None else gradients[self.rows]).reshape(self.seen.shape)


class Render(torch.autograd.Function):
    """Connects images, which are rendered already, to their inputs."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
        *tensors, options, rendered, watch, (image, alphas) = given
        ctx.save_for_backward(*tensors)
        ctx.rendered, ctx.options, ctx.watch = rendered, options, watch
        ctx.set_materialize_grads(False)
        return image, alphas

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor | None, given_alphas: torch.Tensor | None) -> tuple[Any, ...]:
        """Backward of rasterization, projection and harmonics."""
        watched, *tensors, colors, backgrounds = ctx.saved_tensors
        gaussians, options = Gaussians(*tensors), ctx.options
        needs_watched, *_, needs_views, _, needs_colors, needs_backgrounds = ctx.needs_input_grad[:10]
        if given is None and given_alphas is None:
            return (None,) * 14
        rendered: Whole | Small = ctx.rendered
        again = _goes_back_again()
        ctx.rendered = rendered if again else None
        of_backgrounds = None
        if needs_backgrounds and given is not None:
            of_backgrounds = (given * rendered.through[..., None]).sum(dim=(1, 2))
        shapes, of_colors = rendered.draw_back(backgrounds, given, given_alphas, again=again)
        ctx.watch.tell(shapes, absolute=options.absgrad)
        of_depths = None
        if options.with_depths:
            of_depths = _depths_backward(of_colors[..., -1:], rendered, options)
            of_colors = of_colors[..., :-1]
        grads = [*rendered.project_back(gaussians, options.settings, shapes, of_depths, of_views=needs_views)]
        if options.degree is not None:
            of_colors = _through_harmonics(
                grads, gaussians, colors, options, (rendered.origins, rendered.radii, rendered.values, of_colors),
                (ctx.needs_input_grad[1], needs_views),
            )  # fmt: skip
        if not (needs_colors and options.with_colors):
            of_colors = None
        elif of_colors.shape != colors.shape:
            of_colors = of_colors.sum(dim=0)
        of_watched = shapes[:, 0:2].reshape(watched.shape) if needs_watched else None
        return (of_watched, *grads, None, of_colors, of_backgrounds, None, None, None, None)


def _inverse(depths: torch.Tensor, radii: torch.Tensor) -> torch.Tensor:
    return torch.where(radii[..., :1] > 0, 1.0 / depths, 0.0)


def _depths_backward(given: torch.Tensor, rendered: Whole | Small, options: Options) -> torch.Tensor:
    """Gradient [..., 2] of depths and compensations; the latter is zero."""
    if options.inverse_depths:
        given = -given * _inverse(rendered.records[..., 6:7], rendered.radii) ** 2
    return torch.nn.functional.pad(given, (0, 1))


def _through_harmonics(
    grads: list[Any],
    gaussians: Gaussians,
    colors: torch.Tensor,
    options: Options,
    found: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    needs: tuple[bool, bool],
) -> torch.Tensor:
    """Gradient of the coefficients; adds those of means and viewmats to `grads`."""
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
    """Gradients of points, origins and coefficients. `saved`: origins, radii, values, v_values."""
    origins, radii, values, given = found
    needs_points, needs_views = needs
    means, cameras, view = gaussians.means, gaussians.viewmats.shape[-3], _view(gaussians, colors, options)
    learns = needs_points or needs_views
    if not options.deterministic or (cameras == 1 and not needs_views):
        return harmonics.backward(
            means, origins, colors, radii, view, values, given,
            of_points=needs_points, of_origins=needs_views,
        )  # fmt: skip
    # Each image separately, then sums in a fixed order, instead of atomic additions.
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


def _origins_backward(viewmats: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        views = viewmats.detach().requires_grad_()
        (found,) = torch.autograd.grad(camera_origins(views), views, given)
    return found
