"""The Gaussians and the network that colours them."""
import torch
from gsplat import rasterization
from torch import nn

from . import _C
from .attention import CameraAttention


def voxel_features(points: torch.Tensor, voxel: float, dim: int) -> torch.Tensor:
    """First colour features of the points, from a sparse convolution on their voxels."""
    import spconv.pytorch as spconv

    grid = torch.div(points - points.amin(0), voxel, rounding_mode="floor").int()
    cells, inverse = torch.unique(grid, dim=0, return_inverse=True)
    indices = torch.cat([torch.zeros_like(cells[:, :1]), cells], 1)
    ones = torch.ones(len(cells), 1, device=points.device)
    shape = (cells.amax(0) + 1).tolist()
    conv = spconv.SubMConv3d(1, dim, 3, bias=False).to(points.device)
    with torch.no_grad():
        sparse = conv(spconv.SparseConvTensor(ones, indices, shape, batch_size=1))
    return sparse.features[inverse]


class Splats(nn.Module):
    def __init__(self, points: torch.Tensor, views: int, dim: int = 16) -> None:
        super().__init__()
        n = len(points)
        spread = (points.amax(0) - points.amin(0)).mean() / max(n, 1) ** (1 / 3)
        self.means = nn.Parameter(points.clone())
        self.log_scales = nn.Parameter(torch.full_like(points, float(spread.log())))
        self.quats = nn.Parameter(torch.randn(n, 4, device=points.device))
        self.logit_opacity = nn.Parameter(torch.full((n,), -2.0, device=points.device))
        self.features = nn.Parameter(voxel_features(points, 2 * float(spread), dim))
        self.cameras = nn.Parameter(torch.randn(views, dim, device=points.device) * 0.01)
        self.mix = CameraAttention(dim)
        self.head = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, 3))

    def colors(self, view: int) -> torch.Tensor:
        token = self.mix(self.cameras[None])[0, view]
        token = token.expand(len(self.features), -1)
        return torch.sigmoid(self.head(torch.cat([self.features, token], -1)))

    def forward(self, view: int, viewmat, K, width: int, height: int) -> torch.Tensor:
        image, _, _ = rasterization(
            self.means, self.quats, self.log_scales.exp(), torch.sigmoid(self.logit_opacity),
            self.colors(view), viewmat[None], K[None], width, height,
        )
        return image[0]

    @torch.no_grad()
    def preview(self, view: int, viewmat, K, width: int, height: int):
        return _C.preview(
            self.means, self.log_scales.exp(), self.quats, torch.sigmoid(self.logit_opacity),
            self.colors(view).contiguous(), viewmat, float(K[0, 0]), float(K[1, 1]),
            float(K[0, 2]), float(K[1, 2]), width, height,
        )
