"""gsplat.optimizers: Adam for the Gaussians that were seen."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.adam.optimizer import VisibleAdam

__all__ = ["SelectiveAdam"]


class SelectiveAdam(VisibleAdam):
    """With gsplat's signature; rates are those of the groups."""

    def __init__(self, params: Any, eps: float, betas: tuple[float, float]) -> None:
        super().__init__(params=params, eps=eps, betas=betas)

    def step(self, visibility: torch.Tensor) -> None:
        """A step of the rows that `visibility` [N] marks."""
        self.step_visible(visibility)
