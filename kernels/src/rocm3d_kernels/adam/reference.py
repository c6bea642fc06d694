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
    row_size = parameter.numel() // visible.numel()
    is_visible = (visible != 0).repeat_interleave(row_size).view(parameter.shape)
    mean = beta1 * first + (1.0 - beta1) * gradient
    square = beta2 * second + (1.0 - beta2) * gradient * gradient
    parameter.copy_(torch.where(is_visible, parameter - lr * mean / (square.sqrt() + eps), parameter))
    first.copy_(torch.where(is_visible, mean, first))
    second.copy_(torch.where(is_visible, square, second))
