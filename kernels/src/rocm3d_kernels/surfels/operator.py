"""The surfel rendering as one torch.library operator with a fake kernel and gradients.

Rasterization has a backward kernel. Projection and colours take little time: backward recomputes them in PyTorch, which
differentiates them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import torch

from rocm3d_kernels.dispatch import choose
from rocm3d_kernels.harmonics.reference import spherical_harmonics
from rocm3d_kernels.registration import _traced as traced
from rocm3d_kernels.registration import operation
from rocm3d_kernels.surfels import reference
from rocm3d_kernels.surfels.lists import of_records

TENSORS = 9
PICTURES = len(reference.Drawn._fields)
# Columns of a record: x and y of the centre in the image, times its depth.
CENTRE = (2, 5)


class Settings(NamedTuple):
    """Options that hold for all surfels of a rendering."""

    width: int
    height: int
    near: float
    far: float
    radius_clip: float
    degree: int | None  # of spherical harmonics; None: plain colours
    with_colors: bool
    with_depths: bool  # as the last channel


class Surfels(NamedTuple):
    """Input tensors with one batch dimension."""

    means: torch.Tensor  # [B, N, 3]
    quats: torch.Tensor  # [B, N, 4]
    scales: torch.Tensor  # [B, N, 3]
    opacities: torch.Tensor  # [B, N]
    viewmats: torch.Tensor  # [B, C, 4, 4]
    intrinsics: torch.Tensor  # [B, C, 3, 3]
    colors: torch.Tensor  # [B, 1 or C, N, D], or coefficients [B, 1 or C, N, K, 3]
    backgrounds: torch.Tensor | None  # [B * C, D]
    watched: torch.Tensor | None  # [B * C, N, 2]: receives the gradient of the projected centres


def render(surfels: Surfels, settings: Settings) -> tuple[torch.Tensor, ...]:
    """Image, alphas, normals in camera space, distortion, median depth; then radii, records and pixel state."""
    found: tuple[torch.Tensor, ...] = _render(*surfels, *settings)
    return found


def rendered(surfels: Surfels, settings: Settings) -> tuple[torch.Tensor, ...]:
    """Images, radii and records; then the pixel state for backward, empty for the reference."""
    size = (settings.width, settings.height)
    if choose("surfels", surfels.means) == "reference":
        records, radii, colors, back = before_drawing(surfels, settings)
        none = (records.new_empty(0), radii.new_empty(0), records.new_empty(0))
        return (*reference.draw(records, radii, colors, back, size), radii, records, *none)
    from rocm3d_kernels.harmonics import launch as harmonics  # noqa: PLC0415
    from rocm3d_kernels.surfels import launch  # noqa: PLC0415

    records, radii = launch.project(*surfels[:6], size, settings.near, settings.far, settings.radius_clip)
    colors = surfels.colors
    if settings.degree is not None:
        cameras = surfels.viewmats.shape[1]
        own = colors.shape[1] == cameras
        view = harmonics.View(settings.degree, cameras, as_colors=True, per_image=own)
        colors = harmonics.forward(surfels.means, _origins(surfels).flatten(0, 1), colors.contiguous(), radii, view)
    colors, back = _channels(colors, surfels, records, settings)
    drawn, kept = launch.draw(records, of_records(records, radii, size), colors.contiguous(), back, size)
    return (*drawn, radii, records, *kept)


def before_drawing(
    surfels: Surfels, settings: Settings
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Records, radii, colours of all channels and backgrounds, in plain PyTorch."""
    size = (settings.width, settings.height)
    records, radii = reference.project(*surfels[:6], size, settings.near, settings.far, settings.radius_clip)
    if surfels.watched is not None:
        # The value of `watched` has no effect; it receives the full gradient.
        shift = torch.zeros_like(records)
        depths = records[..., reference.DEPTH, None].detach()
        shift[..., CENTRE] = (surfels.watched - surfels.watched.detach()) * depths
        records = records + shift
    colors = surfels.colors if settings.degree is None else _harmonics(surfels, settings.degree)
    return records, radii, *_channels(colors, surfels, records, settings)


def _origins(surfels: Surfels) -> torch.Tensor:
    """Camera centres [B, C, 3]; the upper left 3 x 3 of a view must be a rotation."""
    return -(surfels.viewmats[..., :3, :3] * surfels.viewmats[..., :3, 3:]).sum(dim=-2)


def _harmonics(surfels: Surfels, degree: int) -> torch.Tensor:
    directions = surfels.means[:, None] - _origins(surfels)[:, :, None]
    coefficients = surfels.colors.expand(-1, directions.shape[1], -1, -1, -1)
    return (spherical_harmonics(degree, directions, coefficients) + 0.5).clamp_min(0.0)


def _channels(
    colors: torch.Tensor, surfels: Surfels, records: torch.Tensor, settings: Settings
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Colours [images, N, X] with the depth as last channel, and backgrounds with as many channels."""
    back = surfels.backgrounds
    if colors.dim() == 4:
        colors = colors.expand(-1, surfels.viewmats.shape[1], -1, -1).flatten(0, 1)
    if not settings.with_depths:
        return colors, back
    depths = records[..., reference.DEPTH : reference.DEPTH + 1]
    if not settings.with_colors:
        return depths, None
    return torch.cat([colors, depths], dim=-1), None if back is None else torch.nn.functional.pad(back, (0, 1))


# torch.library does not support newer annotations.
def _run(
    means: torch.Tensor,
    quats: torch.Tensor,
    scales: torch.Tensor,
    opacities: torch.Tensor,
    viewmats: torch.Tensor,
    intrinsics: torch.Tensor,
    colors: torch.Tensor,
    backgrounds: Optional[torch.Tensor],  # noqa: UP045
    watched: Optional[torch.Tensor],  # noqa: UP045
    width: int,
    height: int,
    near: float,
    far: float,
    radius_clip: float,
    degree: Optional[int],  # noqa: UP045
    with_colors: bool,
    with_depths: bool,
) -> tuple[
    torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor,
    torch.Tensor, torch.Tensor, torch.Tensor,
]:  # fmt: skip
    surfels = Surfels(means, quats, scales, opacities, viewmats, intrinsics, colors, backgrounds, watched)
    settings = Settings(width, height, near, far, radius_clip, degree, with_colors, with_depths)
    image, alphas, normals, distortion, median, radii, records, through, last, depths = rendered(surfels, settings)
    return image, alphas, normals, distortion, median, radii, records, through, last, depths


def _run_fake(*given: Any) -> tuple[torch.Tensor, ...]:
    surfels, settings = Surfels(*given[:TENSORS]), Settings(*given[TENSORS:])
    images, count = surfels.viewmats.shape[0] * surfels.viewmats.shape[1], surfels.means.shape[1]
    channels = (3 if settings.degree is not None else surfels.colors.shape[-1]) if settings.with_colors else 0
    shape, new = (images, settings.height, settings.width), surfels.means.new_empty
    return (
        new((*shape, channels + int(settings.with_depths))),
        *[new((*shape, *more)) for more in ((), (3,), (), ())],
        new((images, count, 2), dtype=torch.int32),
        new((images, count, reference.RECORD)),
        *_kept_fake(surfels.means, shape),
    )


def _kept_fake(means: torch.Tensor, shape: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    """Empty for the reference, which saves no pixel state."""
    shape = (0,) if choose("surfels", means) == "reference" else shape
    return means.new_empty(shape), means.new_empty(shape, dtype=torch.int32), means.new_empty(shape)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs[:TENSORS], *output[PICTURES:])
    ctx.settings = Settings(*inputs[TENSORS:])
    ctx.mark_non_differentiable(*output[PICTURES:])


def _backward(ctx: Any, *given: torch.Tensor | None) -> tuple[Any, ...]:
    """Rasterization by the kernel, or by PyTorch for the reference; projection and colours by PyTorch."""
    tensors, (radii, records, *kept) = ctx.saved_tensors[:TENSORS], ctx.saved_tensors[TENSORS:]
    if traced(tensors):
        raise NotImplementedError("surfels: gradients are not supported under torch.compile")
    pulls, settings = given[:PICTURES], ctx.settings
    with torch.enable_grad():
        leaves = Surfels._make(
            None if one is None else one.detach().requires_grad_(need)
            for one, need in zip(tensors, ctx.needs_input_grad, strict=False)
        )
        found, _, colors, back = before_drawing(_visible(leaves, radii), settings)
        if choose("surfels", tensors[0]) == "reference":
            size = (settings.width, settings.height)
            ends: list[Any] = list(reference.draw(found, radii, colors, back, size))
            starts: list[Any] = list(pulls)
        else:
            ends, starts = [found, colors, back], _by_kernel(records, radii, colors, back, kept, pulls)
        pairs = [
            (one, pull)
            for one, pull in zip(ends, starts, strict=True)
            if one is not None and one.requires_grad and pull is not None
        ]
        learning = [one for one in leaves if one is not None and one.requires_grad]
        ends, starts = [one for one, _ in pairs], [pull for _, pull in pairs]
        grads = torch.autograd.grad(ends, learning, starts, materialize_grads=True) if pairs else [None] * len(learning)
    left = iter(grads)
    return (
        *[next(left) if one is not None and one.requires_grad else None for one in leaves],
        *(None,) * len(settings),
    )


def _by_kernel(
    records: torch.Tensor,
    radii: torch.Tensor,
    colors: torch.Tensor,
    back: torch.Tensor | None,
    kept: list[torch.Tensor],
    pulls: tuple[torch.Tensor | None, ...],
) -> list[torch.Tensor | None]:
    """Gradients of records, colours and backgrounds."""
    from rocm3d_kernels.surfels import launch  # noqa: PLC0415

    through = kept[0]
    size = (through.shape[2], through.shape[1])
    values = colors.detach().contiguous()
    lists = of_records(records, radii, size)
    to_records, to_colors = launch.draw_backward(
        records, lists, values, None if back is None else back.detach().contiguous(),
        launch.Kept._make(kept), pulls,
    )  # fmt: skip
    of_back = None if pulls[0] is None else (pulls[0] * through[..., None]).sum(dim=(1, 2))
    return [to_records, to_colors, of_back]


def _visible(surfels: Surfels, radii: torch.Tensor) -> Surfels:
    """Replaces surfels that no camera sees by ones: their gradient is zero even if they hold NaN."""
    batches, count = surfels.means.shape[:2]
    ever = (radii > 0).all(dim=-1).view(batches, -1, count).any(dim=1)
    fine = [
        torch.where(ever.view(*ever.shape, *(1,) * (one.dim() - 2)), one, torch.ones_like(one)) for one in surfels[:4]
    ]
    return surfels._replace(means=fine[0], quats=fine[1], scales=fine[2], opacities=fine[3])


_render = operation(_run, _run_fake, name="surfels", keep=_keep, backward=_backward)
