"""The two functions of the CUDA extensions for deformable attention, for our drop-ins of them."""

from __future__ import annotations

import torch

from rocm3d_kernels.deformable import deformable_attention, gradients
from rocm3d_kernels.deformable.arguments import check_types

__all__ = ["ms_deform_attn_backward", "ms_deform_attn_forward"]


def ms_deform_attn_forward(
    value: torch.Tensor,
    spatial_shapes: torch.Tensor,
    level_start_index: torch.Tensor,
    sampling_loc: torch.Tensor,
    attn_weight: torch.Tensor,
    im2col_step: int = 64,  # noqa: ARG001
) -> torch.Tensor:
    """[N, Q, M * D]. Not differentiable, like the original extension; `im2col_step` is ignored."""
    tensors = (value, spatial_shapes, level_start_index, sampling_loc, attn_weight)
    check_types(tensors)
    return deformable_attention(*(one.detach() for one in tensors))


def ms_deform_attn_backward(
    value: torch.Tensor,
    spatial_shapes: torch.Tensor,
    level_start_index: torch.Tensor,
    sampling_loc: torch.Tensor,
    attn_weight: torch.Tensor,
    grad_output: torch.Tensor,
    im2col_step: int = 64,  # noqa: ARG001
) -> list[torch.Tensor]:
    """Gradients of value, sampling_loc and attn_weight."""
    return list(gradients(value, spatial_shapes, level_start_index, sampling_loc, attn_weight, grad_output))
