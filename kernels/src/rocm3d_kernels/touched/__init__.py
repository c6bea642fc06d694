"""Counts the pixels in which each Gaussian is drawn while the transmittance behind it is above one half."""

from __future__ import annotations

from typing import NamedTuple, Optional

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import (  # noqa: E402
    check_alike,
    check_image_size,
    check_number,
    check_tensors,
)
from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.image_formation import LARGEST_ALPHA  # noqa: E402
from rocm3d_kernels.memory import check_images_fit  # noqa: E402
from rocm3d_kernels.registration import operation  # noqa: E402
from rocm3d_kernels.touched import reference  # noqa: E402

__all__ = ["ImageGaussians", "touched_pixels"]


class ImageGaussians(NamedTuple):
    """Projected Gaussians of a rendering."""

    means2d: torch.Tensor  # [images, N, 2]
    conics: torch.Tensor  # [images, N, 3]
    opacities: torch.Tensor  # [images, N]
    depths: torch.Tensor  # [images, N]
    radii: torch.Tensor  # int32 [images, N, 2]; zero: not visible


class RenderedTiles(NamedTuple):
    """Tile lists of a rendering: tile t has `rows[offsets[t]:offsets[t + 1]]`, nearest first."""

    rows: torch.Tensor  # int32 [pairs]
    offsets: torch.Tensor  # int32 [tiles + 1]
    side: int
    across: int


@torch.no_grad()
def touched_pixels(
    gaussians: ImageGaussians,
    width: int,
    height: int,
    *,
    cap: float = LARGEST_ALPHA,
    tiles: RenderedTiles | None = None,
) -> torch.Tensor:
    """Number of pixels, int32 [images, N], in which a Gaussian is drawn and T behind it is above one half.

    Without `tiles` the lists are made from the radii.
    """
    cap = check_number("touched", "cap", cap, above=0.0, most=1.0)
    _check(gaussians, width, height)
    lists = (None, None, 0, 0) if tiles is None else tiles
    counts: torch.Tensor = _touched(*(one.detach() for one in gaussians), *lists, int(width), int(height), float(cap))
    return counts


def _check(gaussians: ImageGaussians, width: int, height: int) -> None:
    check_tensors("touched", gaussians._asdict())
    shape = gaussians.opacities.shape
    images = shape[0] if len(shape) == 2 else 1
    check_image_size("touched", width, height, images=images)
    check_images_fit("touched", images, int(width), int(height), 1, gaussians.opacities.device)
    for (name, one), more in zip(gaussians._asdict().items(), ((2,), (3,), (), (), (2,)), strict=True):
        if len(shape) != 2 or one.shape != (*shape, *more):
            raise ValueError(f"touched: {name} {tuple(one.shape)} do not match opacities {tuple(shape)}")
    check_alike("touched", {name: one for name, one in gaussians._asdict().items() if name != "radii"})
    radii = gaussians.radii
    if radii.device != gaussians.opacities.device or radii.dtype == torch.bool or radii.is_complex():
        raise ValueError(
            f"touched: radii must be int32 on {gaussians.opacities.device}, not {radii.dtype} on {radii.device}"
        )


# torch.library does not support newer annotations.
def _run(
    means2d: torch.Tensor,
    conics: torch.Tensor,
    opacities: torch.Tensor,
    depths: torch.Tensor,
    radii: torch.Tensor,
    rows: Optional[torch.Tensor],  # noqa: UP045
    offsets: Optional[torch.Tensor],  # noqa: UP045
    side: int,
    across: int,
    width: int,
    height: int,
    cap: float,
) -> torch.Tensor:
    gaussians = ImageGaussians(means2d, conics, opacities, depths, radii)
    if choose("touched", *gaussians) == "reference":
        return reference.touched_pixels(gaussians, width, height, cap)
    from rocm3d_kernels.touched import launch

    if rows is None or offsets is None:
        tiles = launch.tile_lists(gaussians, width, height)
    else:
        tiles = RenderedTiles(rows, offsets, side, across)
    return launch.touched_pixels(gaussians, tiles, width, height, cap)


def _run_fake(*arguments: torch.Tensor) -> torch.Tensor:
    return arguments[2].new_empty(arguments[2].shape, dtype=torch.int32)


_touched = operation(_run, _run_fake, name="touched")
