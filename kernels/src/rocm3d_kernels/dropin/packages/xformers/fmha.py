"""xformers.ops.fmha: memory_efficient_attention and its biases."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.arguments import check_tensors
from rocm3d_kernels.attention import attention
from rocm3d_kernels.dropin.packages.xformers import attn_bias as attn_bias  # noqa: PLC0414  (shown as xformers shows it)
from rocm3d_kernels.dropin.packages.xformers.attn_bias import (
    AttentionBias,
    BlockDiagonalMask,
    LowerTriangularMask,
    LowerTriangularMaskWithTensorBias,
)
from rocm3d_kernels.dropin.packages.xformers.block_diagonal import _PackedMask

__all__ = [
    "AttentionBias",
    "AttentionOp",
    "AttentionOpBase",
    "BlockDiagonalMask",
    "LowerTriangularMask",
    "MemoryEfficientAttentionCkOp",
    "MemoryEfficientAttentionCutlassFwdFlashBwOp",
    "MemoryEfficientAttentionCutlassOp",
    "MemoryEfficientAttentionFlashAttentionOp",
    "MemoryEfficientAttentionSplitKCkOp",
    "attn_bias",
    "memory_efficient_attention",
    "memory_efficient_attention_forward",
]


class AttentionOpBase:
    """One of xFormers' implementations; programs may name one, but the choice is ignored."""

    NAME = "rocm3d-kernels"


AttentionOp = tuple[type[AttentionOpBase] | None, type[AttentionOpBase] | None]
MemoryEfficientAttentionCkOp: AttentionOp = (AttentionOpBase, AttentionOpBase)
MemoryEfficientAttentionCutlassFwdFlashBwOp: AttentionOp = (AttentionOpBase, AttentionOpBase)
MemoryEfficientAttentionCutlassOp: AttentionOp = (AttentionOpBase, AttentionOpBase)
MemoryEfficientAttentionFlashAttentionOp: AttentionOp = (AttentionOpBase, AttentionOpBase)
MemoryEfficientAttentionSplitKCkOp: AttentionOp = (AttentionOpBase, AttentionOpBase)


def memory_efficient_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | AttentionBias | None = None,
    p: float = 0.0,
    scale: float | None = None,
    *,
    op: Any = None,  # noqa: ARG001
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Attention of tensors [B, M, H, K], [B, M, K] (one head) or [B, M, G, H, K] (groups of heads that share keys)."""
    check_tensors("memory_efficient_attention", {"query": query, "key": key, "value": value})
    shape = query.shape
    if not query.ndim == key.ndim == value.ndim or query.ndim not in (3, 4, 5):
        raise ValueError(
            "query, key and value must have the same number of dimensions, 3 to 5, "
            f"not {query.ndim}, {key.ndim}, {value.ndim}"
        )
    if isinstance(attn_bias, torch.Tensor) and query.ndim != 4:
        attn_bias = attn_bias.unsqueeze(1) if query.ndim == 3 else attn_bias.flatten(1, 2)
    q, k, v = _as_four_dimensions(query, key, value)
    output = _attention_with_bias(q, k, v, attn_bias, p, scale)
    return output.reshape(*shape[:-1], value.shape[-1]).to(output_dtype or query.dtype)


def memory_efficient_attention_forward(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_bias: torch.Tensor | AttentionBias | None = None,
    p: float = 0.0,
    scale: float | None = None,
    *,
    op: Any = None,
    output_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """`memory_efficient_attention` without gradient."""
    with torch.no_grad():
        return memory_efficient_attention(query, key, value, attn_bias, p, scale, op=op, output_dtype=output_dtype)


def _attention_with_bias(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: Any, dropout: float, scale: float | None
) -> torch.Tensor:
    if bias is None or isinstance(bias, (torch.Tensor, LowerTriangularMaskWithTensorBias)):
        if isinstance(bias, LowerTriangularMaskWithTensorBias):
            bias = bias.materialize((q.shape[1], k.shape[1]), q.dtype, q.device)
        if bias is not None and bias.dtype != torch.bool:
            bias = bias.to(q.dtype)
        return attention(q, k, v, scale=scale, bias=bias, dropout=dropout)
    if not isinstance(bias, AttentionBias):
        raise NotImplementedError(f"attn_bias of {type(bias).__name__} is not covered by rocm3d-kernels")
    left, right, top = bias.limits()
    if not isinstance(bias, _PackedMask):
        return attention(q, k, v, scale=scale, window=(left, right), top_left=top, dropout=dropout)
    if q.shape[0] != 1 or k.shape[0] != 1:
        raise ValueError(
            f"{type(bias).__name__} needs tensors [1, T, H, K]; the batch sizes are {q.shape[0]} and {k.shape[0]}"
        )
    if bias.q_seqinfo.seqstart_py[-1] != q.shape[1] or bias.k_seqinfo.seqstart_py[-1] > k.shape[1]:
        ends = bias.q_seqinfo.seqstart_py[-1], bias.k_seqinfo.seqstart_py[-1]
        raise ValueError(
            f"the bias is for {ends[0]} queries and {ends[1]} keys, the tensors have {q.shape[1]} and {k.shape[1]}"
        )
    spans = bias.spans(q.device)
    output = attention(q[0], k[0], v[0], spans, scale=scale, window=(left, right), top_left=top, dropout=dropout)
    return output[None]


def _as_four_dimensions(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The tensors as [B, M, H, K]; expanded key heads (stride 0) become one head."""
    if tensors[0].ndim == 3:
        return tuple(one.unsqueeze(2) for one in tensors)
    if tensors[0].ndim == 4:
        return tensors
    q, k, v = tensors
    if k.shape[3] > 1 and k.stride(3) == 0 and v.stride(3) == 0:
        return q.flatten(2, 3), k[:, :, :, 0], v[:, :, :, 0]
    return q.flatten(2, 3), k.flatten(2, 3), v.flatten(2, 3)
