"""Launches the Adam kernel."""

from __future__ import annotations

import torch
import triton

from rocm3d_kernels.adam.triton import rocm3d_adam_kernel
from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned


def step(
    parameter: torch.Tensor,
    gradient: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    visible: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
) -> None:
    """The same contract as `reference.step`; tensors may have any strides."""
    updated = (parameter, first, second)
    contiguous = [tensor.contiguous() for tensor in updated]
    flags = visible if visible.dtype == torch.bool else visible != 0
    count = parameter.numel()
    parameters = tuned("adam", "adam_kernel", parameter.device)
    arguments = (
        contiguous[0], gradient.contiguous(), *contiguous[1:], flags.contiguous(), count, count // visible.numel(),
        lr, beta1, beta2, 1.0 - beta1, 1.0 - beta2, eps,
    )  # fmt: skip
    launch(rocm3d_adam_kernel, (triton.cdiv(count, parameters["BLOCK"]), 1, 1), arguments, **parameters)
    for tensor, copy in zip(updated, contiguous, strict=True):
        if copy is not tensor:
            tensor.copy_(copy)
