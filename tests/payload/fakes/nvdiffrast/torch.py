"""The result of the simplified coarse stage in a guide for RDNA3: no segments, so nothing is drawn.

Source: iGavroche/TRELLIS-AMD-STRIX-HALO@8204ecc AMD_GPU_GUIDE.md.
"""

import torch


class RasterizeCudaContext:
    def __init__(self, device):
        self.device = device


def rasterize(glctx, pos, tri, resolution):
    nothing = torch.zeros(1, *resolution, 4, device=pos.device)
    return nothing, nothing


def interpolate(attr, rast, tri):
    return torch.zeros(*rast.shape[:3], attr.shape[-1], device=attr.device), None
