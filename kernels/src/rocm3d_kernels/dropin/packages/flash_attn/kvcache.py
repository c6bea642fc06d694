"""flash_attn_with_kvcache: appends new keys and values to a cache and attends to its used part."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.attention import Spans, attention
from rocm3d_kernels.dropin.declaration import DOCS


@torch.no_grad()
def flash_attn_with_kvcache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k: torch.Tensor | None = None,
    v: torch.Tensor | None = None,
    rotary_cos: torch.Tensor | None = None,
    rotary_sin: torch.Tensor | None = None,
    cache_seqlens: torch.Tensor | int | None = None,
    cache_batch_idx: torch.Tensor | None = None,
    cache_leftpad: torch.Tensor | None = None,
    block_table: torch.Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    rotary_interleaved: bool = True,  # noqa: ARG001  (unused without rotary_cos)
    alibi_slopes: torch.Tensor | None = None,
    num_splits: int = 0,  # noqa: ARG001  (ignored: the kernel divides the work itself)
    return_softmax_lse: bool = False,
) -> torch.Tensor:
    """q [B, S, H, D], caches [B, C, H, D]; k and v [B, new, H, D] are appended to the used part. No gradient."""
    unsupported = {"rotary_cos": rotary_cos, "rotary_sin": rotary_sin, "block_table": block_table}
    for name, value in {**unsupported, "return_softmax_lse": return_softmax_lse or None}.items():
        if value is not None:
            raise NotImplementedError(f"{name} is not covered by rocm3d-kernels: see {DOCS}")
    batch, capacity = q.shape[0], k_cache.shape[1]
    used = _length_tensor(cache_seqlens, capacity if k is None else 0, batch, q.device)
    slot = torch.arange(batch, device=q.device) if cache_batch_idx is None else cache_batch_idx.long()
    if (k is None) != (v is None):
        raise ValueError("pass both k and v, or neither")
    if k is not None and v is not None:
        positions = used.long()[:, None] + torch.arange(k.shape[1], device=q.device)
        k_cache[slot[:, None], positions], v_cache[slot[:, None], positions] = k, v
        used = used + k.shape[1]
    first = (slot * capacity).int()
    starts = first if cache_leftpad is None else first + cache_leftpad.int()
    queries = torch.arange(batch + 1, dtype=torch.int32, device=q.device) * q.shape[1]
    spans = Spans(queries[:-1], queries[1:], starts, (first + used).int(), q.shape[1], capacity)
    output = attention(
        q.flatten(0, 1), k_cache.reshape(-1, *k_cache.shape[2:]), v_cache.reshape(-1, *v_cache.shape[2:]), spans,
        scale=softmax_scale, causal=causal, window=window_size, softcap=softcap, slopes=alibi_slopes,
    )  # fmt: skip
    return output.unflatten(0, (batch, -1))


def _length_tensor(lengths: Any, default: int, batch: int, device: torch.device) -> torch.Tensor:
    """int32 [B]."""
    if isinstance(lengths, torch.Tensor):
        return lengths.to(device=device, dtype=torch.int32).expand(batch)
    return torch.full((batch,), default if lengths is None else int(lengths), dtype=torch.int32, device=device)
