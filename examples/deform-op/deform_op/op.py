import torch
import torch.nn.functional as F
from torch import nn

try:
    from . import _ext
except ImportError:
    _ext = None


def level_starts(shapes: torch.Tensor) -> torch.Tensor:
    areas = shapes.prod(1)
    return torch.cat([areas.new_zeros(1), areas.cumsum(0)[:-1]])


def sample_attention_torch(value, shapes, locations, weights):
    """The reference: one grid_sample per level."""
    n, _, heads, channels = value.shape
    queries, levels, points = locations.shape[1], locations.shape[3], locations.shape[4]
    out = value.new_zeros(n * heads, channels, queries)
    parts = value.split(shapes.prod(1).tolist(), dim=1)
    for level, (part, (h, w)) in enumerate(zip(parts, shapes.tolist())):
        image = part.permute(0, 2, 3, 1).reshape(n * heads, channels, h, w)
        grid = 2 * locations[:, :, :, level].transpose(1, 2).reshape(n * heads, queries, points, 2) - 1
        sampled = F.grid_sample(image, grid, mode="bilinear", align_corners=False)
        weight = weights[:, :, :, level].transpose(1, 2).reshape(n * heads, 1, queries, points)
        out = out + (sampled * weight).sum(-1)
    return out.view(n, heads * channels, queries).transpose(1, 2).contiguous()


class _Sample(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, shapes, starts, locations, weights):
        ctx.save_for_backward(value, shapes, starts, locations, weights)
        return _ext.forward(value, shapes, starts, locations, weights)

    @staticmethod
    def backward(ctx, grad_out):
        grads = _ext.backward(*ctx.saved_tensors, grad_out.contiguous())
        return grads[0], None, None, grads[1], grads[2]


def sample_attention(value, shapes, locations, weights):
    if _ext is None or not value.is_cuda:
        return sample_attention_torch(value, shapes, locations, weights)
    return _Sample.apply(value.contiguous(), shapes, level_starts(shapes),
                         locations.contiguous(), weights.contiguous())


class SampledAttention(nn.Module):
    def __init__(self, dim: int = 256, heads: int = 8, levels: int = 4, points: int = 4):
        super().__init__()
        self.split = (heads, levels, points)
        self.offset = nn.Linear(dim, heads * levels * points * 2)
        self.weight = nn.Linear(dim, heads * levels * points)
        self.value = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, query, reference, features, shapes):
        n, q, _ = query.shape
        heads, levels, points = self.split
        value = self.value(features).view(n, features.shape[1], heads, -1)
        offset = self.offset(query).view(n, q, heads, levels, points, 2)
        weight = self.weight(query).view(n, q, heads, levels * points).softmax(-1)
        size = shapes.flip(1).to(query.dtype)[None, None, None, :, None]
        where = reference[:, :, None, None, None] + offset / size
        weight = weight.view(n, q, heads, levels, points)
        return self.out(sample_attention(value, shapes, where, weight))
