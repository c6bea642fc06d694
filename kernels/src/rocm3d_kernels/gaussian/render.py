"""Projection, colours, tile lists and rasterization as one autograd function.

One function instead of four: between them PyTorch would spend more CPU time than a small scene takes on the GPU.
Training strategies read the gradient of means2d; it is stored on that tensor by hand if somebody accessed it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.gaussian.small_scene import MAX_CHANNELS, SmallRendering, cached_plan
from rocm3d_kernels.harmonics import launch as harmonics
from rocm3d_kernels.projection import CameraSettings, Gaussians
from rocm3d_kernels.projection import launch as projection
from rocm3d_kernels.raster import RasterInputs
from rocm3d_kernels.raster import launch as raster
from rocm3d_kernels.registration import once_differentiable
from rocm3d_kernels.tiles import TileLists, intersect
from rocm3d_kernels.tiles.slot_guess import find_guess, learn_guess

# Whether backward runs with retain_graph; if torch cannot tell, saved tensors live as long as the images.
_retains_graph = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", lambda: True)


class RenderingOutputs(NamedTuple):
    """Projected Gaussians and tile lists of a rendering."""

    records: torch.Tensor  # [images, N, 8]
    radii: torch.Tensor  # int32 [images, N, 2]
    lists: TileLists


class FullRendering:
    """One rendering with its state for backward, for scenes of any size; same interface as SmallRendering."""

    __slots__ = ("_drawing", "_pixel_state", "_projection", "colors", "origins", "radii", "records", "values")

    def __init__(self, gaussians: Gaussians, settings: CameraSettings) -> None:
        self._projection: Any = projection.forward(gaussians, settings, count_tiles=True)
        self.records: Any = self._projection.records
        self.radii = self._projection.radii
        self._drawing: Any = None
        self._pixel_state: Any = None
        self.colors: Any = None
        self.values: torch.Tensor | None = None
        self.origins: torch.Tensor | None = None

    @property
    def outputs(self) -> RenderingOutputs:
        """Available after `draw`."""
        return RenderingOutputs(self.records, self.radii, self._drawing.lists)

    @property
    def transmittance(self) -> torch.Tensor:
        """Final transmittance T by pixel; only if `draw` ran with `keep`."""
        T: torch.Tensor = self._pixel_state[0]
        return T

    def draw(
        self, backgrounds: torch.Tensor | None, options: RenderOptions, *, keep: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Images [images, height, width, D] and alphas [images, height, width]."""
        size = options.settings.width, options.settings.height
        lists = intersect(self._projection, *size)
        self._drawing = RasterInputs(
            self.records.view(-1, self.records.shape[-1]), lists, *size,
            absgrad=options.absgrad, deterministic=options.deterministic, cap=options.cap,
        )  # fmt: skip
        image, alphas, *self._pixel_state = raster.forward(self.colors, backgrounds, self._drawing, keep=keep)
        if not options.deterministic:
            learn_guess(self._projection, size, lists)
        self._projection = None
        return image, alphas

    def draw_backward(
        self,
        backgrounds: torch.Tensor | None,
        v_image: torch.Tensor | None,
        v_alphas: torch.Tensor | None,
        *,
        retain_graph: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Gradients of the shapes, [rows, 6 or 8] in the layout of the kernel, and of the colours.

        Without `retain_graph` saved tensors are freed before backward needs more memory.
        """
        T, last = self._pixel_state
        v_shapes, v_colors, _ = raster.backward(self.colors, backgrounds, self._drawing, T, last, v_image, v_alphas)
        if not retain_graph:
            self._drawing = self._pixel_state = self.colors = None
        return v_shapes, v_colors

    def project_backward(
        self,
        gaussians: Gaussians,
        settings: CameraSettings,
        v_shapes: torch.Tensor,
        v_depths: torch.Tensor | None,
        *,
        needs_viewmats: bool,
    ) -> tuple[torch.Tensor | None, ...]:
        """Gradients of means, covars, quats, scales, opacities and viewmats."""
        if self._drawing is None:
            self.records = None
        v_parts = (v_shapes, v_shapes, v_depths)
        return projection.backward(
            gaussians, settings, self.radii, v_parts, needs_viewmats=needs_viewmats, shapes_offset=2
        )


def forward(
    gaussians: Gaussians, colors: torch.Tensor, backgrounds: torch.Tensor | None, options: RenderOptions, *, keep: bool
) -> tuple[FullRendering | SmallRendering, torch.Tensor, torch.Tensor]:
    """Renders with the kernels; all tensors are contiguous."""
    small = None if options.deterministic else _small_rendering(gaussians, colors, options, keep=keep)
    if small is not None:
        _set_colors(small, gaussians, colors, options)
        if small.has_enough_slots():
            return small, *small.draw(backgrounds)
    whole = FullRendering(gaussians, options.settings)
    _set_colors(whole, gaussians, colors, options)
    return whole, *whole.draw(backgrounds, options, keep=keep)


def _small_rendering(
    gaussians: Gaussians, colors: torch.Tensor, options: RenderOptions, *, keep: bool
) -> SmallRendering | None:
    """None without a guess. A guess depends on earlier renderings, so the deterministic mode does not use it."""
    means, views, settings = gaussians.means, gaussians.viewmats, options.settings
    images, count, device = views.numel() // 16, means.shape[-2], means.device
    guess = find_guess(images, count, (settings.width, settings.height), device)
    channels = 0 if not options.with_colors else 3 if options.degree is not None else colors.shape[-1]
    channels += int(options.with_depths)
    if guess is None or channels > MAX_CHANNELS or gaussians.opacities is None:
        return None
    from_covars = gaussians.covars is not None
    plan = cached_plan(options, guess, images, views.shape[-3], count, channels, from_covars, keep, device)
    return SmallRendering(plan, gaussians)


def _set_colors(
    rendering: FullRendering | SmallRendering, gaussians: Gaussians, colors: torch.Tensor, options: RenderOptions
) -> None:
    """Sets the colours to rasterize, with depths as the last channel; with harmonics also their values and origins."""
    if options.degree is not None:
        rendering.origins = camera_origins(gaussians.viewmats)
        rendering.values = colors = harmonics.forward(
            gaussians.means, rendering.origins, colors, rendering.radii, _harmonics_options(gaussians, colors, options)
        )
    if options.with_depths:
        depths = rendering.records[..., 6:7]
        depths = _inverse_depths(depths, rendering.radii) if options.inverse_depths else depths
        colors_by_image = colors if colors.dim() == 3 else colors.expand(depths.shape[0], *colors.shape)
        colors = torch.cat([colors_by_image, depths], dim=-1) if options.with_colors else depths.contiguous()
    rendering.colors = colors


def camera_origins(viewmats: torch.Tensor) -> torch.Tensor:
    """Camera centres [images, 3] of views [..., 4, 4], whose upper left 3 x 3 must be rotations."""
    flat = viewmats.reshape(-1, 4, 4)
    return -(flat[:, :3, :3] * flat[:, :3, 3:]).sum(dim=1)


class Means2dGradient:
    """means2d of a rendering, which receives `.grad` and `.absgrad` in backward.

    It lives as long as the images, so it does not hold the records, which are large.
    """

    def __init__(self, rows: torch.Tensor | None) -> None:
        self.rows = rows
        self.means2d: torch.Tensor | None = None

    def leaf(self, records: torch.Tensor) -> torch.Tensor:
        """The leaf tensor means2d, created on first access."""
        if self.means2d is None:
            self.means2d = records[..., 0:2].detach().requires_grad_()
        return self.means2d

    def store(self, gradients: torch.Tensor, *, absolute: bool) -> None:
        """Stores gradients [rows, 6 or 8] of the kernel on means2d, if it was accessed."""
        if self.means2d is None:
            return
        v_means2d = self._select_rows(gradients[:, 0:2])
        self.means2d.grad = v_means2d if self.means2d.grad is None else self.means2d.grad + v_means2d
        if absolute:
            self.means2d.absgrad = self._select_rows(gradients[:, 6:8])

    def _select_rows(self, gradients: torch.Tensor) -> torch.Tensor:
        assert self.means2d is not None
        return (gradients if self.rows is None else gradients[self.rows]).reshape(self.means2d.shape)


class RenderFunction(torch.autograd.Function):
    """Connects images, which are rendered already, to their inputs."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[torch.Tensor, torch.Tensor]:
        *tensors, options, rendered, watch, (image, alphas) = arguments
        ctx.save_for_backward(*tensors)
        ctx.rendered, ctx.options, ctx.watch = rendered, options, watch
        ctx.set_materialize_grads(False)
        return image, alphas

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, v_image: torch.Tensor | None, v_alphas: torch.Tensor | None) -> tuple[Any, ...]:
        """Backward of rasterization, projection and harmonics."""
        watched, *tensors, colors, backgrounds = ctx.saved_tensors
        gaussians, options = Gaussians(*tensors), ctx.options
        needs_watched, *_, needs_viewmats, _, needs_colors, needs_backgrounds = ctx.needs_input_grad[:10]
        if v_image is None and v_alphas is None:
            return (None,) * 14
        rendered: FullRendering | SmallRendering = ctx.rendered
        retain_graph = _retains_graph()
        ctx.rendered = rendered if retain_graph else None
        v_backgrounds = None
        if needs_backgrounds and v_image is not None:
            v_backgrounds = (v_image * rendered.transmittance[..., None]).sum(dim=(1, 2))
        v_shapes, v_colors = rendered.draw_backward(backgrounds, v_image, v_alphas, retain_graph=retain_graph)
        ctx.watch.store(v_shapes, absolute=options.absgrad)
        v_depths = None
        if options.with_depths:
            v_depths = _depths_backward(v_colors[..., -1:], rendered, options)
            v_colors = v_colors[..., :-1]
        grads = [
            *rendered.project_backward(gaussians, options.settings, v_shapes, v_depths, needs_viewmats=needs_viewmats)
        ]
        if options.degree is not None:
            v_colors = _add_harmonics_gradients(
                grads, gaussians, colors, options, (rendered.origins, rendered.radii, rendered.values, v_colors),
                (ctx.needs_input_grad[1], needs_viewmats),
            )  # fmt: skip
        if not (needs_colors and options.with_colors):
            v_colors = None
        elif v_colors.shape != colors.shape:
            v_colors = v_colors.sum(dim=0)
        v_watched = v_shapes[:, 0:2].reshape(watched.shape) if needs_watched else None
        return (v_watched, *grads, None, v_colors, v_backgrounds, None, None, None, None)


def _inverse_depths(depths: torch.Tensor, radii: torch.Tensor) -> torch.Tensor:
    return torch.where(radii[..., :1] > 0, 1.0 / depths, 0.0)


def _depths_backward(
    v_depths: torch.Tensor, rendered: FullRendering | SmallRendering, options: RenderOptions
) -> torch.Tensor:
    """Gradient [..., 2] of depths and compensations; the latter is zero."""
    if options.inverse_depths:
        v_depths = -v_depths * _inverse_depths(rendered.records[..., 6:7], rendered.radii) ** 2
    return torch.nn.functional.pad(v_depths, (0, 1))


def _add_harmonics_gradients(
    grads: list[Any],
    gaussians: Gaussians,
    colors: torch.Tensor,
    options: RenderOptions,
    saved: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    needs: tuple[bool, bool],
) -> torch.Tensor:
    """Gradient of the coefficients; adds those of means and viewmats to `grads`."""
    v_points, v_origins, v_colors = _harmonics_backward(gaussians, colors, options, saved, needs)
    if v_points is not None:
        grads[0] += v_points
    if v_origins is not None:
        grads[5] += _origins_backward(gaussians.viewmats, v_origins)
    return v_colors


def _harmonics_backward(
    gaussians: Gaussians,
    colors: torch.Tensor,
    options: RenderOptions,
    saved: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    needs: tuple[bool, bool],
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor]:
    """Gradients of points, origins and coefficients. `saved`: origins, radii, values, v_values."""
    origins, radii, values, v_values = saved
    needs_points, needs_viewmats = needs
    means, cameras, harmonics_options = (
        gaussians.means,
        gaussians.viewmats.shape[-3],
        _harmonics_options(gaussians, colors, options),
    )
    needs_directions = needs_points or needs_viewmats
    if not options.deterministic or (cameras == 1 and not needs_viewmats):
        return harmonics.backward(
            means, origins, colors, radii, harmonics_options, values, v_values,
            needs_points=needs_points, needs_origins=needs_viewmats,
        )  # fmt: skip
    # Each image separately, then sums in a fixed order, instead of atomic additions.
    points = means.unsqueeze(-3).expand(*means.shape[:-2], cameras, *means.shape[-2:]).contiguous()
    colors_by_image = (
        colors
        if harmonics_options.per_image
        else colors.unsqueeze(-4).expand(*points.shape[:-1], *colors.shape[-2:]).contiguous()
    )
    v_points, _, v_colors = harmonics.backward(
        points,
        origins,
        colors_by_image,
        radii,
        harmonics_options._replace(cameras=1),
        values,
        v_values,
        needs_points=needs_directions,
        needs_origins=False,
    )
    v_origins = None if v_points is None else -v_points.sum(dim=-2).view(-1, 3)
    v_points = None if v_points is None else v_points.sum(dim=-3)
    return (
        v_points,
        v_origins if needs_viewmats else None,
        v_colors if harmonics_options.per_image else v_colors.sum(dim=-4),
    )


def _harmonics_options(
    gaussians: Gaussians, colors: torch.Tensor, options: RenderOptions
) -> harmonics.HarmonicsOptions:
    cameras = gaussians.viewmats.shape[-3]
    return harmonics.HarmonicsOptions(
        options.degree or 0, cameras, as_colors=True, per_image=colors.dim() > gaussians.means.dim() + 1
    )


def _origins_backward(viewmats: torch.Tensor, v_origins: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        views = viewmats.detach().requires_grad_()
        (v_viewmats,) = torch.autograd.grad(camera_origins(views), views, v_origins)
    return v_viewmats
