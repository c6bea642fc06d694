import torch
from torch import nn

from .curve import curve_key
from .layers import Block, GridPool


class PointBackbone(nn.Module):
    def __init__(self, in_channels: int = 6, dims=(32, 64, 128), depths=(2, 2, 4),
                 heads=(2, 4, 8), window: int = 256, drop: float = 0.1) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(in_channels, dims[0]), nn.LayerNorm(dims[0]), nn.GELU())
        self.pools, self.stages = nn.ModuleList(), nn.ModuleList()
        for s, dim in enumerate(dims):
            self.pools.append(GridPool(dims[s - 1], dim) if s else nn.Identity())
            self.stages.append(nn.ModuleList(
                Block(dim, heads[s], window, drop, key=f"stage{s}") for _ in range(depths[s])
            ))

    def forward(self, coord, feat, batch, grid_size: float) -> dict:
        grid = torch.div(coord - coord.amin(0), grid_size, rounding_mode="floor").int()
        order = torch.argsort(curve_key(grid, batch))
        point = {"coord": coord[order], "feat": self.stem(feat[order]), "grid": grid[order],
                 "batch": batch[order].long()}
        for pool, blocks in zip(self.pools, self.stages):
            point = pool(point)
            for block in blocks:
                point = block(point)
        return point
