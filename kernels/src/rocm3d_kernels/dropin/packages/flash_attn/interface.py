"""flash_attn, flash_attn.flash_attn_interface: attention functions with flash-attn's signatures.

Causal masks and windows are aligned to the last query and key, as in flash-attn from 2.1 on. Our kernels are bitwise
deterministic. Arguments that are not covered raise an error.
"""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.arguments import check_tensors
from rocm3d_kernels.attention import attention, spans_from_cu_seqlens
from rocm3d_kernels.dropin.declaration import DOCS
from rocm3d_kernels.dropin.packages.flash_attn.kvcache import flash_attn_with_kvcache

__all__ = [
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func",
    "flash_attn_varlen_qkvpacked_func",
    "flash_attn_with_kvcache",
]

Window = tuple[int, int]
NO_WINDOW = (-1, -1)


def flash_attn_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Window = NO_WINDOW,
    softcap: float = 0.0,
    alibi_slopes: torch.Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> torch.Tensor:
    """Attention of tensors [B, S, H, D]; k and v may have fewer heads."""
    _check_supported(return_attn_probs=return_attn_probs)
    return attention(
        q, k, v, scale=softmax_scale, causal=causal, window=window_size, softcap=softcap, slopes=alibi_slopes,
        dropout=dropout_p, deterministic=deterministic,
    )  # fmt: skip


def flash_attn_qkvpacked_func(qkv: torch.Tensor, *settings: Any, **named: Any) -> torch.Tensor:
    """Attention of one tensor [B, S, 3, H, D]."""
    q, k, v = _unpack("qkv", qkv, 5, 3)
    return flash_attn_func(q, k, v, *settings, **named)


def flash_attn_kvpacked_func(q: torch.Tensor, kv: torch.Tensor, *settings: Any, **named: Any) -> torch.Tensor:
    """Attention of tensors [B, S, H, D] and [B, S, 2, H, D]."""
    k, v = _unpack("kv", kv, 5, 2)
    return flash_attn_func(q, k, v, *settings, **named)


def flash_attn_varlen_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Window = NO_WINDOW,
    softcap: float = 0.0,
    alibi_slopes: torch.Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention of packed tensors [T, H, D]: sequence n has tokens cu_seqlens[n] to cu_seqlens[n + 1]."""
    _check_supported(return_attn_probs=return_attn_probs, block_table=block_table)
    spans = spans_from_cu_seqlens(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    return attention(
        q, k, v, spans, scale=softmax_scale, causal=causal, window=window_size, softcap=softcap, slopes=alibi_slopes,
        dropout=dropout_p, deterministic=deterministic,
    )  # fmt: skip


def flash_attn_varlen_qkvpacked_func(
    qkv: torch.Tensor, cu_seqlens: torch.Tensor, max_seqlen: int, *settings: Any, **named: Any
) -> torch.Tensor:
    """Attention of one packed tensor [T, 3, H, D]."""
    q, k, v = _unpack("qkv", qkv, 4, 3)
    return flash_attn_varlen_func(q, k, v, cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, *settings, **named)


def flash_attn_varlen_kvpacked_func(
    q: torch.Tensor,
    kv: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *settings: Any,
    **named: Any,
) -> torch.Tensor:
    """Attention of packed tensors [T, H, D] and [T, 2, H, D]."""
    k, v = _unpack("kv", kv, 4, 2)
    return flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, *settings, **named)


def _unpack(name: str, packed: torch.Tensor, dimensions: int, count: int) -> tuple[torch.Tensor, ...]:
    check_tensors("flash_attn", {name: packed})
    if packed.ndim != dimensions or packed.shape[-3] != count:
        raise ValueError(
            f"{name} must have {dimensions} dimensions and size {count} in dimension -3, not {tuple(packed.shape)}"
        )
    return tuple(packed.unbind(-3))


def _check_supported(**options: Any) -> None:
    """Raises for arguments without a counterpart: attention probabilities and paged caches."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise NotImplementedError(f"{name} is not covered by rocm3d-kernels: see {DOCS}")
