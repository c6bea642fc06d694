"""Adam (Kingma and Ba, 2015) for the visible rows, in plain PyTorch and in place."""

from __future__ import annotations

import torch


def step(
    parameter: torch.Tensor,
    gradient: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    visible: torch.Tensor,  # [N]
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
) -> None:
    """Rows where `visible` is zero keep their values and moments."""
    each = parameter.numel() // visible.numel()
    seen = (visible != 0).repeat_interleave(each).view(parameter.shape)
    mean = beta1 * first + (1.0 - beta1) * gradient
    square = beta2 * second + (1.0 - beta2) * gradient * gradient
    parameter.copy_(torch.where(seen, parameter - lr * mean / (square.sqrt() + eps), parameter))
    first.copy_(torch.where(seen, mean, first))
    second.copy_(torch.where(seen, square, second))
