"""Renders 2D Gaussian surfels (flat discs), with normals, median depth and distortion."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import check_tensors  # noqa: E402
from rocm3d_kernels.gaussian.arguments import MODES, camera_numbers, check_arguments  # noqa: E402
from rocm3d_kernels.gaussian.meta import LazyMeta  # noqa: E402
from rocm3d_kernels.projection import Gaussians  # noqa: E402
from rocm3d_kernels.surfels import lists, operator, reference  # noqa: E402

__all__ = ["Surface", "rasterization"]


class Surface(NamedTuple):
    """Images [..., C, height, width, ...] and a dict of further results."""

    image: torch.Tensor  # colours, depth or both, by render_mode
    alphas: torch.Tensor  # [..., 1]
    normals: torch.Tensor  # [..., 3], in world space, length at most alpha
    distortion: torch.Tensor  # [..., 1]
    median: torch.Tensor  # [..., 1], depth
    meta: dict[str, Any]


def rasterization(
    means: torch.Tensor,  # [..., N, 3]
    quats: torch.Tensor,  # [..., N, 4]
    scales: torch.Tensor,  # [..., N, 3]; the third is ignored
    opacities: torch.Tensor,  # [..., N]
    colors: torch.Tensor,  # [..., (C,) N, D], or coefficients [..., (C,) N, K, 3]
    viewmats: torch.Tensor,  # [..., C, 4, 4]
    intrinsics: torch.Tensor,  # [..., C, 3, 3]
    width: int,
    height: int,
    *,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    sh_degree: int | None = None,
    backgrounds: torch.Tensor | None = None,  # [..., C, D]
    render_mode: str = "RGB",
    watched: torch.Tensor | None = None,  # [..., C, N, 2]
) -> Surface:
    """`watched` receives the gradient of the projected centres in pixels; its value is not used."""
    surfels = Gaussians(means, None, quats, scales, opacities, viewmats, intrinsics)
    size = (width, height)
    check_arguments(
        surfels, colors, backgrounds, size, sh_degree, render_mode, "pinhole", op="surfels", tile=lists.SIDE
    )
    near, far, smallest_radius, _ = camera_numbers("surfels", near_plane, far_plane, radius_clip, 0.0)
    if watched is not None:
        check_tensors("surfels", {"watched": watched})
    if watched is not None and watched.shape != (*viewmats.shape[:-2], means.shape[-2], 2):
        raise ValueError(f"surfels: watched must be [..., C, N, 2], not {tuple(watched.shape)}")
    with_colors, with_depths, mean_depth = MODES[render_mode]
    if not with_colors:
        # Colours are not used in this mode, and their shape was not checked.
        colors, sh_degree = means.detach()[..., :1], None
    batch = viewmats.shape[:-2]
    settings = operator.SurfelSettings(
        int(width), int(height), max(near, 0.0), far, smallest_radius, sh_degree, with_colors, with_depths,
    )  # fmt: skip
    batched = _batched(surfels, colors, backgrounds, sh_degree)
    if watched is not None:
        batched = batched._replace(watched=watched.reshape(batch.numel(), means.shape[-2], 2))
    *pictures, radii, records, _, _, _ = operator.render(batched, settings)
    images = reference.SurfelImages(*[one.view(*batch, *one.shape[1:]) for one in pictures])
    image, alphas = images.image, images.alphas[..., None]
    if mean_depth:
        depth = image[..., -1:] / alphas.clamp_min(1e-10)
        image = torch.cat([image[..., :-1], depth], dim=-1)
    # Camera to world: the transpose, as the upper left 3 x 3 of a view is a rotation.
    normals = torch.einsum("...ji,...hwj->...hwi", viewmats[..., :3, :3], images.normals)
    meta = _meta(records, radii, (width, height), batch)
    return Surface(image, alphas, normals, images.distortion[..., None], images.median[..., None], meta)


def _batched(
    surfels: Gaussians, colors: torch.Tensor, backgrounds: torch.Tensor | None, degree: int | None
) -> operator.Surfels:
    """Contiguous, with one dimension for all batches."""
    means, views = surfels.means, surfels.viewmats
    batches, count, cameras = math.prod(means.shape[:-2]), means.shape[-2], views.shape[-3]
    tail = colors.shape[-1:] if degree is None else colors.shape[-2:]
    has_camera_colors = colors.dim() - len(tail) > means.dim() - 1

    def flat(one: torch.Tensor | None) -> torch.Tensor:
        if one is None:
            raise ValueError("surfels: quats, scales and opacities are required")
        return one.contiguous().view(batches, *one.shape[means.dim() - 2 :])

    return operator.Surfels(
        flat(means),
        flat(surfels.quats),
        flat(surfels.scales),
        flat(surfels.opacities),
        flat(views),
        flat(surfels.intrinsics),
        colors.contiguous().view(batches, cameras if has_camera_colors else 1, count, *tail),
        None if backgrounds is None else backgrounds.contiguous().view(batches * cameras, backgrounds.shape[-1]),
        None,
    )


def _meta(records: torch.Tensor, radii: torch.Tensor, size: tuple[int, int], batch: torch.Size) -> LazyMeta:
    """Further results under the names of gsplat; tile lists are made on access."""
    cached_lists: list[lists.SurfelTileLists] = []

    def get_lists() -> lists.SurfelTileLists:
        if not cached_lists:
            cached_lists.append(lists.tile_lists(records, radii, size))
        return cached_lists[0]

    rows = records.view(*batch, *records.shape[1:])
    across, down = (-(-side // lists.SIDE) for side in size)
    return LazyMeta(
        radii=radii.view(*batch, *radii.shape[1:]),
        means2d=rows[..., reference.MEAN : reference.MEAN + 2],
        depths=rows[..., reference.DEPTH],
        ray_transforms=rows[..., : reference.MEAN].unflatten(-1, (3, 3)),
        opacities=rows[..., reference.OPACITY],
        normals=rows[..., reference.NORMAL :],
        tiles_per_gauss=lambda: get_lists().counts.view(*batch, -1),
        isect_ids=lambda: get_lists().keys,
        flatten_ids=lambda: get_lists().rows,
        isect_offsets=lambda: get_lists().offsets[:-1].view(*batch, down, across),
        tile_size=lists.SIDE,
        tile_width=across,
        tile_height=down,
        width=size[0],
        height=size[1],
        n_cameras=batch[-1],
        camera_ids=None,
        gaussian_ids=None,
    )
