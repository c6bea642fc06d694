"""The surfel rendering as one torch.library operator with a fake kernel and gradients.

Rasterization has a backward kernel. Projection and colours take little time: backward recomputes them in PyTorch, which
differentiates them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import torch

from rocm3d_kernels.dispatch import choose
from rocm3d_kernels.harmonics.reference import spherical_harmonics
from rocm3d_kernels.memory import check_images_fit
from rocm3d_kernels.registration import is_traced as traced
from rocm3d_kernels.registration import operation
from rocm3d_kernels.surfels import reference
from rocm3d_kernels.surfels.lists import tile_lists

TENSOR_COUNT = 9
IMAGE_COUNT = len(reference.SurfelImages._fields)
# Columns of a record: x and y of the centre in the image, times its depth.
CENTRE_COLUMNS = (2, 5)


class SurfelSettings(NamedTuple):
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


def render(surfels: Surfels, settings: SurfelSettings) -> tuple[torch.Tensor, ...]:
    """Image, alphas, normals in camera space, distortion, median depth; then radii, records and pixel state."""
    outputs: tuple[torch.Tensor, ...] = _render(*surfels, *settings)
    return outputs


def render_eager(surfels: Surfels, settings: SurfelSettings) -> tuple[torch.Tensor, ...]:
    """Images, radii and records; then the pixel state for backward, empty for the reference."""
    size = (settings.width, settings.height)
    # Colours, alpha, normals, distortion and median depth.
    channels = (surfels.colors.shape[-1] if settings.degree is None else 3) + 6
    check_images_fit("surfels", surfels.viewmats.numel() // 16, *size, channels, surfels.means.device)
    if choose("surfels", surfels.means) == "reference":
        records, radii, colors, back = project_and_color(surfels, settings)
        none = (records.new_empty(0), radii.new_empty(0), records.new_empty(0))
        return (*reference.draw(records, radii, colors, back, size), radii, records, *none)
    from rocm3d_kernels.harmonics import launch as harmonics  # noqa: PLC0415
    from rocm3d_kernels.surfels import launch  # noqa: PLC0415

    records, radii = launch.project(*surfels[:6], size, settings.near, settings.far, settings.radius_clip)
    colors = surfels.colors
    if settings.degree is not None:
        cameras = surfels.viewmats.shape[1]
        has_camera_colors = colors.shape[1] == cameras
        view = harmonics.HarmonicsOptions(settings.degree, cameras, as_colors=True, per_image=has_camera_colors)
        colors = harmonics.forward(surfels.means, _origins(surfels).flatten(0, 1), colors.contiguous(), radii, view)
    colors, back = _all_channels(colors, surfels, records, settings)
    drawn, pixel_state = launch.draw(records, tile_lists(records, radii, size), colors.contiguous(), back, size)
    return (*drawn, radii, records, *pixel_state)


def project_and_color(
    surfels: Surfels, settings: SurfelSettings
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Records, radii, colours of all channels and backgrounds, in plain PyTorch."""
    size = (settings.width, settings.height)
    records, radii = reference.project(*surfels[:6], size, settings.near, settings.far, settings.radius_clip)
    if surfels.watched is not None:
        # The value of `watched` has no effect; it receives the full gradient.
        shift = torch.zeros_like(records)
        depths = records[..., reference.DEPTH, None].detach()
        shift[..., CENTRE_COLUMNS] = (surfels.watched - surfels.watched.detach()) * depths
        records = records + shift
    colors = surfels.colors if settings.degree is None else _harmonics(surfels, settings.degree)
    return records, radii, *_all_channels(colors, surfels, records, settings)


def _origins(surfels: Surfels) -> torch.Tensor:
    """Camera centres [B, C, 3]; the upper left 3 x 3 of a view must be a rotation."""
    return -(surfels.viewmats[..., :3, :3] * surfels.viewmats[..., :3, 3:]).sum(dim=-2)


def _harmonics(surfels: Surfels, degree: int) -> torch.Tensor:
    directions = surfels.means[:, None] - _origins(surfels)[:, :, None]
    coefficients = surfels.colors.expand(-1, directions.shape[1], -1, -1, -1)
    return (spherical_harmonics(degree, directions, coefficients) + 0.5).clamp_min(0.0)


def _all_channels(
    colors: torch.Tensor, surfels: Surfels, records: torch.Tensor, settings: SurfelSettings
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
    settings = SurfelSettings(width, height, near, far, radius_clip, degree, with_colors, with_depths)
    image, alphas, normals, distortion, median, radii, records, T, last, depths = render_eager(surfels, settings)
    return image, alphas, normals, distortion, median, radii, records, T, last, depths


def _run_fake(*arguments: Any) -> tuple[torch.Tensor, ...]:
    surfels, settings = Surfels(*arguments[:TENSOR_COUNT]), SurfelSettings(*arguments[TENSOR_COUNT:])
    images, count = surfels.viewmats.shape[0] * surfels.viewmats.shape[1], surfels.means.shape[1]
    channels = (3 if settings.degree is not None else surfels.colors.shape[-1]) if settings.with_colors else 0
    shape, new = (images, settings.height, settings.width), surfels.means.new_empty
    return (
        new((*shape, channels + int(settings.with_depths))),
        *[new((*shape, *more)) for more in ((), (3,), (), ())],
        new((images, count, 2), dtype=torch.int32),
        new((images, count, reference.RECORD)),
        *_pixel_state_fake(surfels.means, shape),
    )


def _pixel_state_fake(means: torch.Tensor, shape: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    """Empty for the reference, which saves no pixel state."""
    shape = (0,) if choose("surfels", means) == "reference" else shape
    return means.new_empty(shape), means.new_empty(shape, dtype=torch.int32), means.new_empty(shape)


def _save_for_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs[:TENSOR_COUNT], *output[IMAGE_COUNT:])
    ctx.settings = SurfelSettings(*inputs[TENSOR_COUNT:])
    ctx.mark_non_differentiable(*output[IMAGE_COUNT:])


def _backward(ctx: Any, *v_outputs: torch.Tensor | None) -> tuple[Any, ...]:
    """Rasterization by the kernel, or by PyTorch for the reference; projection and colours by PyTorch."""
    tensors, (radii, records, *pixel_state) = ctx.saved_tensors[:TENSOR_COUNT], ctx.saved_tensors[TENSOR_COUNT:]
    if traced(tensors):
        raise NotImplementedError("surfels: gradients are not supported under torch.compile")
    v_images, settings = v_outputs[:IMAGE_COUNT], ctx.settings
    with torch.enable_grad():
        leaves = Surfels._make(
            None if one is None else one.detach().requires_grad_(need)
            for one, need in zip(tensors, ctx.needs_input_grad, strict=False)
        )
        recomputed, _, colors, back = project_and_color(_replace_invisible(leaves, radii), settings)
        if choose("surfels", tensors[0]) == "reference":
            size = (settings.width, settings.height)
            outputs: list[Any] = list(reference.draw(recomputed, radii, colors, back, size))
            v_starts: list[Any] = list(v_images)
        else:
            outputs, v_starts = (
                [recomputed, colors, back],
                _draw_backward(records, radii, colors, back, pixel_state, v_images),
            )
        pairs = [
            (one, v_output)
            for one, v_output in zip(outputs, v_starts, strict=True)
            if one is not None and one.requires_grad and v_output is not None
        ]
        inputs = [one for one in leaves if one is not None and one.requires_grad]
        outputs, v_starts = [one for one, _ in pairs], [v_output for _, v_output in pairs]
        grads = (
            torch.autograd.grad(outputs, inputs, v_starts, materialize_grads=True) if pairs else [None] * len(inputs)
        )
    remaining = iter(grads)
    return (
        *[next(remaining) if one is not None and one.requires_grad else None for one in leaves],
        *(None,) * len(settings),
    )


def _draw_backward(
    records: torch.Tensor,
    radii: torch.Tensor,
    colors: torch.Tensor,
    back: torch.Tensor | None,
    pixel_state: list[torch.Tensor],
    v_images: tuple[torch.Tensor | None, ...],
) -> list[torch.Tensor | None]:
    """Gradients of records, colours and backgrounds."""
    from rocm3d_kernels.surfels import launch  # noqa: PLC0415

    T = pixel_state[0]
    size = (T.shape[2], T.shape[1])
    values = colors.detach().contiguous()
    lists = tile_lists(records, radii, size)
    v_records, v_colors = launch.draw_backward(
        records, lists, values, None if back is None else back.detach().contiguous(),
        launch.PixelState._make(pixel_state), v_images,
    )  # fmt: skip
    v_backgrounds = None if v_images[0] is None else (v_images[0] * T[..., None]).sum(dim=(1, 2))
    return [v_records, v_colors, v_backgrounds]


def _replace_invisible(surfels: Surfels, radii: torch.Tensor) -> Surfels:
    """Replaces surfels that no camera sees by ones: their gradient is zero even if they hold NaN."""
    batches, count = surfels.means.shape[:2]
    ever_visible = (radii > 0).all(dim=-1).view(batches, surfels.viewmats.shape[1], count).any(dim=1)
    replaced = [
        torch.where(ever_visible.view(*ever_visible.shape, *(1,) * (one.dim() - 2)), one, torch.ones_like(one))
        for one in surfels[:4]
    ]
    return surfels._replace(means=replaced[0], quats=replaced[1], scales=replaced[2], opacities=replaced[3])


_render = operation(_run, _run_fake, name="surfels", keep=_save_for_backward, backward=_backward)
