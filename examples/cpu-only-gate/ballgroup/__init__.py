"""Neighbour grouping for point networks."""
import torch

from ._C import ball_query as _ball_query
from ._C import has_cuda

__all__ = ["ball_query", "group", "has_cuda"]


def ball_query(points: torch.Tensor, centers: torch.Tensor, radius: float, k: int):
    """Indices (M, k), padded with -1, and neighbour counts (M,)."""
    return _ball_query(points, centers, radius, k)


def group(features: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Features (N, C) of the neighbours, (M, k, C); zero where the index is -1."""
    taken = features[index.clamp(min=0)]
    return taken * (index >= 0).unsqueeze(-1).to(taken.dtype)
