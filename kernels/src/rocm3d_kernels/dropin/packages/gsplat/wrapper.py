"""gsplat.cuda._wrapper: the steps of `rasterization` as single functions; slower than `rasterization`."""

from __future__ import annotations

import torch

from rocm3d_kernels import boxes
from rocm3d_kernels.adam import adam_step
from rocm3d_kernels.arguments import check_image_size, check_tensors
from rocm3d_kernels.dispatch import choose
from rocm3d_kernels.dropin.declaration import DOCS
from rocm3d_kernels.dropin.packages.gsplat import arguments as checks
from rocm3d_kernels.gaussian.arguments import camera_numbers, check_gaussians
from rocm3d_kernels.harmonics import spherical_harmonics
from rocm3d_kernels.projection import CameraSettings, Gaussians, Projected, project, reference, split_records
from rocm3d_kernels.raster import RasterInputs, draw
from rocm3d_kernels.tiles import TileLists

PROJECTION = "fully_fused_projection"

__all__ = [
    "adam",
    "fully_fused_projection",
    "isect_offset_encode",
    "isect_tiles",
    "quat_scale_to_covar_preci",
    "rasterize_to_pixels",
    "spherical_harmonics",
]


def adam(
    param: torch.Tensor,
    param_grad: torch.Tensor,
    exp_avg: torch.Tensor,
    exp_avg_sq: torch.Tensor,
    valid: torch.Tensor,
    lr: float,
    b1: float,
    b2: float,
    eps: float,
) -> None:
    """One Adam step in place, for the rows where `valid` is not zero."""
    adam_step(param, param_grad, exp_avg, exp_avg_sq, valid, lr=lr, betas=(b1, b2), eps=eps)


def quat_scale_to_covar_preci(
    quats: torch.Tensor,
    scales: torch.Tensor,
    compute_covar: bool = True,
    compute_preci: bool = True,
    triu: bool = False,
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """Covariances and their inverses [..., 3, 3], or [..., 6] upper triangles."""
    checks.check_quats_and_scales(quats, scales)
    covars = reference.covariance(quats, scales) if compute_covar else None
    precisions = reference.covariance(quats, 1.0 / scales) if compute_preci else None
    rows, columns = [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]
    if triu:
        covars = None if covars is None else covars[..., rows, columns]
        precisions = None if precisions is None else precisions[..., rows, columns]
    return covars, precisions


def fully_fused_projection(
    means: torch.Tensor,
    covars: torch.Tensor | None,
    quats: torch.Tensor | None,
    scales: torch.Tensor | None,
    viewmats: torch.Tensor,
    Ks: torch.Tensor,
    width: int,
    height: int,
    eps2d: float = 0.3,
    near_plane: float = 0.01,
    far_plane: float = 1e10,
    radius_clip: float = 0.0,
    packed: bool = False,
    sparse_grad: bool = False,
    calc_compensations: bool = False,
    camera_model: str = "pinhole",
    opacities: torch.Tensor | None = None,
) -> tuple[torch.Tensor | None, ...]:
    """Radii, means2d, depths, conics and compensations (or None), each [..., C, N, ...]."""
    if packed or sparse_grad or camera_model not in ("pinhole", "ortho"):
        raise NotImplementedError(
            "packed, sparse_grad and camera models other than pinhole and ortho "
            f"are not covered by rocm3d-kernels: see {DOCS}"
        )
    near, far, smallest_radius, eps = camera_numbers(PROJECTION, near_plane, far_plane, radius_clip, eps2d)
    width, height = check_image_size(PROJECTION, width, height)
    settings = CameraSettings(width, height, eps, near, far, smallest_radius, bool(calc_compensations), camera_model)
    checks.check_opacities(opacities)
    fixed_opacities = None if opacities is None else opacities.detach()
    gaussians = Gaussians(
        means, covars, *((quats, scales) if covars is None else (None, None)), fixed_opacities, viewmats, Ks
    )
    check_gaussians(gaussians, op=PROJECTION, opacities=False)
    shape = (*viewmats.shape[:-2], means.shape[-2])
    if choose("projection", means) == "reference":
        projected = reference.project_all(gaussians, settings)
        return tuple(None if one is None else one.reshape(*shape, *one.shape[3:]) for one in projected)
    visible, learned = project(gaussians, settings)
    tensors = learned or split_records(visible.records)
    compensations = tensors.depths[..., 1].view(shape) if calc_compensations else None
    parts = (
        tensors.means2d.view(*shape, 2),
        tensors.depths[..., 0].view(shape),
        tensors.shapes[..., :3].view(*shape, 3),
    )
    return visible.radii.view(*shape, 2), *parts, compensations


def isect_tiles(
    means2d: torch.Tensor,
    radii: torch.Tensor,
    depths: torch.Tensor,
    tile_size: int,
    tile_width: int,
    tile_height: int,
    sort: bool = True,
    segmented: bool = False,  # noqa: ARG001
    packed: bool = False,
    n_images: int | None = None,
    image_ids: torch.Tensor | None = None,
    gaussian_ids: torch.Tensor | None = None,  # noqa: ARG001
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Number of tiles that each Gaussian touches, sort keys (image, tile, depth), and the row of each key."""
    if packed and (n_images is None or image_ids is None):
        raise ValueError("packed=True needs n_images and image_ids")
    images = checks.check_boxes(means2d, radii, depths, n_images, image_ids)
    checks.check_grid("isect_tiles", images, tile_width, tile_height, tile_size)
    centres, extents = means2d.reshape(-1, 2), radii.reshape(-1, 2)
    # A negative depth or NaN would change the tile in the sort key.
    depth = torch.where(depths > 0, depths, 0.0).reshape(-1)
    if image_ids is None:
        count = centres.shape[0]
        image = torch.arange(count, device=centres.device) // max(count // max(images, 1), 1)
    else:
        image = image_ids.long()
    counts, ids, rows = boxes.tile_pairs(
        centres, extents, depth, image, tile_size, (tile_width, tile_height), sort=sort
    )
    return counts.view(means2d.shape[:-1]), ids, rows


def isect_offset_encode(isect_ids: torch.Tensor, n_images: int, tile_width: int, tile_height: int) -> torch.Tensor:
    """Index of each tile's first key [images, tile_height, tile_width]."""
    check_tensors("isect_offset_encode", {"isect_ids": isect_ids})
    if isect_ids.dim() != 1 or isect_ids.dtype != torch.int64:
        raise ValueError(
            f"isect_offset_encode: isect_ids must be int64 [pairs], not {isect_ids.dtype} {tuple(isect_ids.shape)}"
        )
    checks.check_grid("isect_offset_encode", n_images, tile_width, tile_height)
    return boxes.tile_offsets(isect_ids.contiguous(), n_images, (tile_width, tile_height))


def rasterize_to_pixels(
    means2d: torch.Tensor,
    conics: torch.Tensor,
    colors: torch.Tensor,
    opacities: torch.Tensor,
    image_width: int,
    image_height: int,
    tile_size: int,
    isect_offsets: torch.Tensor,
    flatten_ids: torch.Tensor,
    backgrounds: torch.Tensor | None = None,
    masks: torch.Tensor | None = None,
    packed: bool = False,
    absgrad: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Images [..., height, width, D] and alphas [..., height, width, 1], from the lists of isect_tiles; needs a GPU."""
    checks.check_raster(
        {"means2d": means2d, "conics": conics, "colors": colors, "opacities": opacities}, image_width, image_height,
        tile_size, isect_offsets, flatten_ids, backgrounds, masks, packed=packed,
    )  # fmt: skip
    if choose("raster", means2d) == "reference":
        raise NotImplementedError("rasterize_to_pixels needs a GPU; on a CPU use rasterization")
    images, (tiles_y, tiles_x) = isect_offsets.shape[:-2], isect_offsets.shape[-2:]
    shapes = torch.cat([conics, opacities[..., None]], dim=-1).contiguous()
    records = torch.cat([means2d, shapes, torch.zeros_like(means2d)], dim=-1).detach().reshape(-1, 8)
    last = torch.tensor([flatten_ids.shape[0]], dtype=torch.int32, device=flatten_ids.device)
    offsets = torch.cat([isect_offsets.reshape(-1).int(), last])
    lists = TileLists(flatten_ids.int().contiguous(), offsets, tile_size, tiles_x, tiles_y)
    flags = None if masks is None else masks.reshape(-1).to(torch.int8).contiguous()
    drawing = RasterInputs(records, lists, image_width, image_height, not packed, flags, absgrad)
    rows = colors if packed else colors.reshape(images.numel(), *colors.shape[-2:])
    back = None if backgrounds is None else backgrounds.reshape(-1, backgrounds.shape[-1])
    image, alphas = draw(Projected(means2d, shapes, shapes), rows, back, drawing)
    return image.view(*images, *image.shape[1:]), alphas.view(*images, *alphas.shape[1:], 1)
