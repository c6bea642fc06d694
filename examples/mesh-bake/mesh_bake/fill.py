"""Fills the texels that no photo saw."""
import cupy as cp
import torch
from cupyx.scipy import ndimage


def fill_holes(texture: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    """Each unseen texel of (H, W, C) takes the value of the nearest seen one."""
    holes = cp.from_dlpack(torch.logical_not(seen).to(torch.uint8).contiguous())
    _, index = ndimage.distance_transform_edt(holes, return_indices=True)
    row, column = (torch.from_dlpack(i.astype(cp.int64)) for i in index)
    return texture[row, column]
