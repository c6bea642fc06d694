"""Mean squared distance to the three nearest neighbours in plain PyTorch: all pairs, 1024 rows at a time."""

from __future__ import annotations

import torch

NEIGHBOURS = 3
ROWS = 1024


def mean_squared_distance(points: torch.Tensor) -> torch.Tensor:
    """[N, 3] -> [N]. Points with a NaN or infinite coordinate count as absent; they and a single point get NaN."""
    is_finite = torch.isfinite(points).all(dim=1)
    neighbours = min(NEIGHBOURS, int(is_finite.sum()) - 1)
    result = torch.full((len(points),), torch.nan, dtype=points.dtype, device=points.device)
    if neighbours < 1:
        return result
    for begin in range(0, len(points), ROWS):
        rows = points[begin : begin + ROWS]
        squares = ((rows[:, None] - points[None]) ** 2).sum(dim=-1)
        squares[:, ~is_finite] = torch.inf
        squares[torch.arange(len(rows)), torch.arange(begin, begin + len(rows))] = torch.inf
        nearest = squares.topk(neighbours, dim=1, largest=False).values
        result[begin : begin + ROWS] = nearest.mean(dim=1)
    return torch.where(is_finite, result, torch.nan)
