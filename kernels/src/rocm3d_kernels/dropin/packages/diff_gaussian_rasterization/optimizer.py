"""SparseGaussianAdam of the accelerated branch: Adam for the Gaussians that were seen."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.adam.optimizer import VisibleAdam


class SparseGaussianAdam(VisibleAdam):
    """With the original's signature; its betas are torch's."""

    def __init__(self, params: Any, lr: float, eps: float) -> None:
        super().__init__(params=params, lr=lr, eps=eps)

    def step(self, visibility: torch.Tensor, N: int) -> None:
        """A step of the rows that `visibility` marks, of N Gaussians."""
        if visibility.numel() != N:
            raise ValueError(f"visibility is of {visibility.numel()} Gaussians, N is {N}")
        self.step_visible(visibility)
