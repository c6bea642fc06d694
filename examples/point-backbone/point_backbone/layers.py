import spconv.pytorch as spconv
import torch
from flash_attn import flash_attn_varlen_qkvpacked_func
from timm.models.layers import DropPath
from torch import nn
from torch_scatter import segment_csr

from .curve import curve_key


class PositionCode(nn.Module):
    """Conditional position code: a submanifold convolution with a residual."""

    def __init__(self, dim: int, key: str) -> None:
        super().__init__()
        self.conv = spconv.SubMConv3d(dim, dim, kernel_size=3, bias=True, indice_key=key)
        self.norm = nn.LayerNorm(dim)

    def forward(self, point: dict) -> torch.Tensor:
        grid, batch = point["grid"].int(), point["batch"].int()
        sparse = spconv.SparseConvTensor(
            features=point["feat"],
            indices=torch.cat([batch[:, None], grid], 1).contiguous(),
            spatial_shape=(grid.amax(0) + 8).tolist(),
            batch_size=int(batch[-1]) + 1,
        )
        return point["feat"] + self.norm(self.conv(sparse).features)


class WindowAttention(nn.Module):
    """Attention in windows of `size` neighbours on the curve."""

    def __init__(self, dim: int, heads: int, size: int) -> None:
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def windows(self, point: dict) -> torch.Tensor:
        """Cumulative lengths of the windows; none crosses from one cloud to the next."""
        starts = [0]
        for count in torch.bincount(point["batch"]).tolist():
            begin = starts[-1]
            starts += list(range(begin + self.size, begin + count, self.size)) + [begin + count]
        return torch.tensor(starts, dtype=torch.int32, device=point["feat"].device)

    def forward(self, point: dict, x: torch.Tensor) -> torch.Tensor:
        n, c = x.shape
        qkv = self.qkv(x).view(n, 3, self.heads, c // self.heads)
        out = flash_attn_varlen_qkvpacked_func(
            qkv.half(), self.windows(point), self.size, dropout_p=0.0,
            softmax_scale=(c // self.heads) ** -0.5,
        )
        return self.proj(out.reshape(n, c).to(x.dtype))


class Block(nn.Module):
    def __init__(self, dim: int, heads: int, size: int, drop: float, key: str) -> None:
        super().__init__()
        self.code = PositionCode(dim, key)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = WindowAttention(dim, heads, size)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.drop = DropPath(drop)

    def forward(self, point: dict) -> dict:
        x = self.code(point)
        x = x + self.drop(self.attention(point, self.norm1(x)))
        x = x + self.drop(self.mlp(self.norm2(x)))
        return {**point, "feat": x}


class GridPool(nn.Module):
    """Halves the grid and keeps the maximum feature of each coarse voxel."""

    def __init__(self, dim_in: int, dim_out: int) -> None:
        super().__init__()
        self.proj = nn.Linear(dim_in, dim_out)
        self.norm = nn.LayerNorm(dim_out)

    def forward(self, point: dict) -> dict:
        grid = point["grid"] >> 1
        key, order = torch.sort(curve_key(grid, point["batch"]))
        _, counts = torch.unique_consecutive(key, return_counts=True)
        pointer = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        head = order[pointer[:-1]]
        feat = segment_csr(self.proj(point["feat"])[order], pointer, reduce="max")
        coord = segment_csr(point["coord"][order], pointer, reduce="mean")
        return {"feat": self.norm(feat), "coord": coord, "grid": grid[head],
                "batch": point["batch"][head]}
