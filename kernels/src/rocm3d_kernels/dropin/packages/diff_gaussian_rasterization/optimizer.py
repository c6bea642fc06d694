"""SparseGaussianAdam of the accelerated branch: Adam for the visible Gaussians."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.adam.optimizer import VisibleAdam
from rocm3d_kernels.arguments import check_tensors


class SparseGaussianAdam(VisibleAdam):
    """Has the original's signature; betas are torch's defaults."""

    def __init__(self, params: Any, lr: float, eps: float) -> None:
        super().__init__(params=params, lr=lr, eps=eps)

    def step(self, visibility: torch.Tensor, N: int) -> None:
        """One step for the visible rows of N Gaussians."""
        check_tensors("SparseGaussianAdam", {"visibility": visibility})
        if visibility.numel() != N:
            raise ValueError(f"visibility has {visibility.numel()} elements, but N is {N}")
        self.step_visible(visibility)
