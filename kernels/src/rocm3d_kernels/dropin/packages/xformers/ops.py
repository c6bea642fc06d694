"""xformers.ops: attention, `unbind`, SwiGLU, and selecting and adding rows by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from rocm3d_kernels.dropin.packages.xformers import fmha as fmha  # noqa: PLC0414  (shown as xformers shows it)
from rocm3d_kernels.dropin.packages.xformers.fmha import (
    AttentionBias,
    AttentionOp,
    AttentionOpBase,
    LowerTriangularMask,
    MemoryEfficientAttentionCkOp,
    MemoryEfficientAttentionCutlassFwdFlashBwOp,
    MemoryEfficientAttentionCutlassOp,
    MemoryEfficientAttentionFlashAttentionOp,
    MemoryEfficientAttentionSplitKCkOp,
    memory_efficient_attention,
    memory_efficient_attention_forward,
)

__all__ = [
    "AttentionBias",
    "AttentionMask",
    "AttentionOp",
    "AttentionOpBase",
    "LowerTriangularMask",
    "MemoryEfficientAttentionCkOp",
    "MemoryEfficientAttentionCutlassFwdFlashBwOp",
    "MemoryEfficientAttentionCutlassOp",
    "MemoryEfficientAttentionFlashAttentionOp",
    "MemoryEfficientAttentionSplitKCkOp",
    "SwiGLU",
    "fmha",
    "index_select_cat",
    "memory_efficient_attention",
    "memory_efficient_attention_forward",
    "scaled_index_add",
    "swiglu",
    "unbind",
]

AttentionMask = AttentionBias


def unbind(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, ...]:
    """Views along a dimension."""
    return tuple(x.unbind(dim))


def swiglu(
    x: torch.Tensor,
    w1: torch.Tensor,
    b1: torch.Tensor | None,
    w2: torch.Tensor,
    b2: torch.Tensor | None,
    w3: torch.Tensor,
    b3: torch.Tensor | None,
    *,
    op: Any = None,  # noqa: ARG001  (ignored: there is one implementation)
) -> torch.Tensor:
    """(silu(x w1 + b1) * (x w2 + b2)) w3 + b3."""
    linear = torch.nn.functional.linear
    return linear(torch.nn.functional.silu(linear(x, w1, b1)) * linear(x, w2, b2), w3, b3)


class SwiGLU(torch.nn.Module):
    """Three linear layers, the first two packed into one; weights are named as in the original's checkpoints."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        out_features: int | None = None,
        bias: bool = True,
        *,
        _pack_weights: bool = True,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.hidden_features = hidden_features or in_features
        self.out_features = out_features or in_features
        self.op: Any = None
        self.w12: torch.nn.Linear | None = None
        if _pack_weights:
            self.w12 = torch.nn.Linear(in_features, 2 * self.hidden_features, bias=bias)
        else:
            self.w1 = torch.nn.Linear(in_features, self.hidden_features, bias=bias)
            self.w2 = torch.nn.Linear(in_features, self.hidden_features, bias=bias)
        self.w3 = torch.nn.Linear(self.hidden_features, self.out_features, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in_features] -> [..., out_features]."""
        gate, value = self.w12(x).chunk(2, dim=-1) if self.w12 is not None else (self.w1(x), self.w2(x))
        output: torch.Tensor = self.w3(torch.nn.functional.silu(gate) * value)
        return output


def scaled_index_add(
    input: torch.Tensor,  # noqa: A002  (the original's name)
    index: torch.Tensor,
    source: torch.Tensor,
    scaling: torch.Tensor | None = None,
    alpha: float = 1.0,
) -> torch.Tensor:
    """Adds scaled rows to `input` in place."""
    scaled = source if scaling is None else source * scaling
    return input.index_add_(0, index, scaled.to(input.dtype), alpha=alpha)


def index_select_cat(sources: Sequence[torch.Tensor], indices: Sequence[torch.Tensor]) -> torch.Tensor:
    """Selected rows of each source, flattened and concatenated."""
    return torch.cat([one[rows.long()].flatten() for one, rows in zip(sources, indices, strict=True)])
