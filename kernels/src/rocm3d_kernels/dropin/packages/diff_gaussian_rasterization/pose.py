"""The fork with gradients of the camera pose, for programs that track a camera.

`theta` and `rho` are an infinitesimal rotation and translation of the camera: their values are ignored, their gradients
are taken at zero motion, T' = exp(rho, theta) T with T from world to camera.
"""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.arguments import check_tensors
from rocm3d_kernels.dropin.packages.diff_gaussian_rasterization.arguments import OP
from rocm3d_kernels.touched import ImageGaussians, RenderedTiles, touched_pixels


def check_motion(
    theta: torch.Tensor | None, rho: torch.Tensor | None, means: torch.Tensor
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """Raises for what is not a tensor on the device of the Gaussians."""
    for name, one in (("theta", theta), ("rho", rho)):
        if one is not None:
            check_tensors(OP, {name: one})
            if one.device != means.device or not one.dtype.is_floating_point:
                raise ValueError(f"{OP}: {name} must be float32 on {means.device}, not {one.dtype} on {one.device}")
    return theta, rho


def connect_motion(view: torch.Tensor, theta: torch.Tensor | None, rho: torch.Tensor | None) -> torch.Tensor:
    """The unchanged view [4, 4], connected to theta and rho for autograd."""
    for name, tensor in (("theta", theta), ("rho", rho)):
        if tensor is not None and tensor.numel() != 3:
            raise ValueError(f"{OP}: {name} must have 3 elements, not {tensor.numel()}")
    twist = view.new_zeros((4, 4))
    if theta is not None:
        x, y, z = (theta - theta.detach()).reshape(3).to(view.dtype).unbind()
        zero = torch.zeros_like(x)
        rotation = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero]).view(3, 3)
        twist = twist + torch.nn.functional.pad(rotation, (0, 1, 0, 1))
    if rho is not None:
        translation = (rho - rho.detach()).reshape(3, 1).to(view.dtype)
        twist = twist + torch.nn.functional.pad(translation, (3, 0, 0, 1))
    return view + twist @ view


def intrinsics(raw: torch.Tensor, width: int, height: int) -> torch.Tensor:
    """[3, 3] from a transposed projection matrix; the principal point may be off-centre."""
    scale = raw[2, 3]
    fx, fy = 0.5 * width * raw[0, 0] / scale, 0.5 * height * raw[1, 1] / scale
    cx, cy = 0.5 * width * (1.0 + raw[2, 0] / scale), 0.5 * height * (1.0 + raw[2, 1] / scale)
    zero, one = torch.zeros_like(fx), torch.ones_like(fx)
    return torch.stack([fx, zero, cx, zero, fy, cy, zero, zero, one]).view(3, 3)


@torch.no_grad()
def touched(meta: dict[str, Any], width: int, height: int, cap: float) -> torch.Tensor:
    """Number of pixels that each Gaussian contributes to [N], from the metadata of a rendering."""
    gaussians = ImageGaussians(*(meta[name].detach() for name in ImageGaussians._fields))
    tiles = None
    if "flatten_ids" in meta:
        rows = meta["flatten_ids"]
        offsets = torch.nn.functional.pad(meta["isect_offsets"].flatten(), (0, 1), value=rows.shape[0])
        tiles = RenderedTiles(rows, offsets, meta["tile_size"], meta["tile_width"])
    return touched_pixels(gaussians, width, height, cap=cap, tiles=tiles)[0]
