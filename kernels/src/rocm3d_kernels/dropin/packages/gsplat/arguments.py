"""Checks of the single steps of gsplat.cuda._wrapper, under their names, before any launch."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.arguments import (
    MAX_INT32,
    check_alike,
    check_image_size,
    check_integer,
    check_shape,
    check_tensors,
)
from rocm3d_kernels.boxes import DEPTH_BITS
from rocm3d_kernels.memory import check_images_fit

# A program draws the pixels of one tile; a size of Triton's tensors is a power of two.
TILE_SIZES = (4, 8, 16, 32)
MAX_CHANNELS = 512
_INTEGERS = (torch.int32, torch.int64)


def check_quats_and_scales(quats: torch.Tensor, scales: torch.Tensor) -> None:
    op = "quat_scale_to_covar_preci"
    check_tensors(op, {"quats": quats, "scales": scales})
    if quats.shape[-1:] != (4,):
        raise ValueError(f"{op}: quats must be [..., 4], not {tuple(quats.shape)}")
    check_shape(op, "scales", scales, (*quats.shape[:-1], 3), "with these quats")
    check_alike(op, {"quats": quats, "scales": scales})


def check_opacities(opacities: torch.Tensor | None) -> None:
    """None, or a tensor."""
    if opacities is not None:
        check_tensors("fully_fused_projection", {"opacities": opacities})


def check_boxes(
    means2d: torch.Tensor, radii: torch.Tensor, depths: torch.Tensor, n_images: Any, image_ids: torch.Tensor | None
) -> int:
    """Number of images."""
    op = "isect_tiles"
    check_tensors(op, {"means2d": means2d, "radii": radii, "depths": depths})
    if means2d.shape[-1:] != (2,):
        raise ValueError(f"{op}: means2d must be [..., N, 2] or [nnz, 2], not {tuple(means2d.shape)}")
    check_shape(op, "radii", radii, means2d.shape, "with these means2d")
    check_shape(op, "depths", depths, means2d.shape[:-1], "with these means2d")
    check_alike(op, {"means2d": means2d, "depths": depths})
    if radii.dtype == torch.bool or radii.is_complex() or radii.device != means2d.device:
        raise ValueError(f"{op}: radii must be int32 on {means2d.device}, not {radii.dtype} on {radii.device}")
    rows = means2d.shape[:-1].numel()
    if rows >= MAX_INT32:
        raise ValueError(f"{op}: means2d are {rows} Gaussians in all images; it must be below {MAX_INT32}")
    if image_ids is not None:
        check_tensors(op, {"image_ids": image_ids})
        check_shape(op, "image_ids", image_ids, (rows,), "with these means2d")
        if image_ids.dtype not in _INTEGERS or image_ids.device != means2d.device:
            raise ValueError(
                f"{op}: image_ids must be int64 or int32 on {means2d.device}, not {image_ids.dtype} on "
                f"{image_ids.device}"
            )
    images = means2d.shape[:-2].numel() if n_images is None else check_integer(op, "n_images", n_images, 1)
    if image_ids is None and rows % max(images, 1):
        raise ValueError(f"{op}: means2d {tuple(means2d.shape)} cannot be divided into n_images {images}")
    return max(images, 1)


def check_grid(op: str, images: Any, tile_width: Any, tile_height: Any, tile_size: Any = 16) -> None:
    """Raises if tiles cannot be numbered, or image and tile do not fit into a sort key."""
    images = check_integer(op, "n_images", images, 1)
    sides = [
        check_integer(op, name, one, 1)
        for name, one in (("tile_width", tile_width), ("tile_height", tile_height), ("tile_size", tile_size))
    ]
    tiles = sides[0] * sides[1]
    key_bits = (images - 1).bit_length() + (tiles - 1).bit_length()
    if images * tiles >= MAX_INT32 or key_bits > 63 - DEPTH_BITS:
        raise ValueError(
            f"{op}: {images} images of tile_width {sides[0]} and tile_height {sides[1]} are too many tiles for a sort "
            f"key of 64 bits; render smaller or fewer images"
        )


def check_raster(
    tensors: dict[str, torch.Tensor],
    image_width: Any,
    image_height: Any,
    tile_size: Any,
    isect_offsets: torch.Tensor,
    flatten_ids: torch.Tensor,
    backgrounds: torch.Tensor | None,
    masks: torch.Tensor | None,
    *,
    packed: bool,
) -> None:
    """The contents of the lists are not read: they must be those of isect_tiles for the same Gaussians."""
    op = "rasterize_to_pixels"
    lists = {"isect_offsets": isect_offsets, "flatten_ids": flatten_ids}
    check_tensors(op, {**tensors, **lists})
    rows, colors = _check_rows(op, tensors, packed=packed), tensors["colors"]
    device = colors.device
    size = check_integer(op, "tile_size", tile_size, 1)
    if size not in TILE_SIZES:
        raise ValueError(f"{op}: tile_size is {size}; choose {', '.join(map(str, TILE_SIZES))}")
    images = isect_offsets.shape[:-2]
    if isect_offsets.dim() < 2 or not images.numel() or (not packed and images.numel() != rows[:-1].numel()):
        raise ValueError(
            f"{op}: isect_offsets must be [..., tile_height, tile_width] with as many images as means2d, "
            f"not {tuple(isect_offsets.shape)}"
        )
    width, height = check_image_size(
        op, image_width, image_height, images=images.numel(), tile=size, names=("image_width", "image_height")
    )
    grid = (-(-height // size), -(-width // size))
    check_shape(op, "isect_offsets", isect_offsets, (*images, *grid), "with this image and tile_size")
    check_shape(op, "flatten_ids", flatten_ids, (flatten_ids.numel(),))
    for name, one in lists.items():
        if one.dtype not in _INTEGERS or one.device != device:
            raise ValueError(f"{op}: {name} must be int32 on {device}, not {one.dtype} on {one.device}")
    if backgrounds is not None:
        check_tensors(op, {"backgrounds": backgrounds})
        check_shape(op, "backgrounds", backgrounds, (*images, colors.shape[-1]), "with these colors")
        check_alike(op, {"means2d": tensors["means2d"], "backgrounds": backgrounds})
    if masks is not None:
        check_tensors(op, {"masks": masks})
        check_shape(op, "masks", masks, isect_offsets.shape, "with these isect_offsets")
        if masks.dtype != torch.bool or masks.device != device:
            raise ValueError(f"{op}: masks must be bool on {device}, not {masks.dtype} on {masks.device}")
    check_images_fit(op, images.numel(), width, height, colors.shape[-1] + 1, device)


def _check_rows(op: str, tensors: dict[str, torch.Tensor], *, packed: bool) -> torch.Size:
    """Shape of the rows: [..., N], or [nnz] if packed."""
    means2d, colors = tensors["means2d"], tensors["colors"]
    if means2d.dim() < 2 or means2d.shape[-1] != 2 or (packed and means2d.dim() != 2):
        shape = "[nnz, 2] if packed" if packed else "[..., N, 2]"
        raise ValueError(f"{op}: means2d must be {shape}, not {tuple(means2d.shape)}")
    rows = means2d.shape[:-1]
    check_shape(op, "conics", tensors["conics"], (*rows, 3), "with these means2d")
    check_shape(op, "opacities", tensors["opacities"], rows, "with these means2d")
    if colors.shape[:-1] != rows or not 1 <= colors.shape[-1] <= MAX_CHANNELS:
        raise ValueError(
            f"{op}: colors must be {(*rows, 'D')} with D from 1 to {MAX_CHANNELS}, not {tuple(colors.shape)}"
        )
    check_alike(op, tensors)
    return rows
