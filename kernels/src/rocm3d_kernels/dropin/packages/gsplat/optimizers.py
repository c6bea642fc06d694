"""gsplat.optimizers: Adam for the visible Gaussians."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.adam.optimizer import VisibleAdam

__all__ = ["SelectiveAdam"]


class SelectiveAdam(VisibleAdam):
    """Has gsplat's signature; learning rates are those of the parameter groups."""

    def __init__(self, params: Any, eps: float, betas: tuple[float, float]) -> None:
        super().__init__(params=params, eps=eps, betas=betas)

    def step(self, visibility: torch.Tensor) -> None:
        """One step for the rows where `visibility` [N] is not zero."""
        self.step_visible(visibility)
