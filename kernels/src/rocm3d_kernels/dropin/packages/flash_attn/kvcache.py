"""flash_attn_with_kvcache: appends new keys and values to a cache and attends to its used part."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.arguments import check_alike, check_integer, check_shape, check_tensors
from rocm3d_kernels.attention import Spans, attention
from rocm3d_kernels.dropin.declaration import DOCS

OP = "flash_attn_with_kvcache"
INTEGERS = (torch.int32, torch.int64)


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
    if (k is None) != (v is None):
        raise ValueError("pass both k and v, or neither")
    _check(q, k_cache, v_cache, k, v, cache_batch_idx, cache_leftpad)
    batch, capacity = q.shape[0], k_cache.shape[1]
    # A length that is a tensor is not read; it would have to come from the GPU.
    new = 0 if k is None else k.shape[1]
    most = capacity - new
    if most < 0:
        raise ValueError(f"{OP}: k has {new} tokens, k_cache has room for {capacity}")
    used = _length_tensor(cache_seqlens, capacity if k is None else 0, most, batch, q.device)
    slot = torch.arange(batch, device=q.device) if cache_batch_idx is None else cache_batch_idx.long()
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


def _check(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    k: torch.Tensor | None,
    v: torch.Tensor | None,
    cache_batch_idx: torch.Tensor | None,
    cache_leftpad: torch.Tensor | None,
) -> None:
    """Raises for wrong types, shapes, dtypes and devices; lengths and indices are not read."""
    required = {"q": q, "k_cache": k_cache, "v_cache": v_cache}
    new = {name: one for name, one in (("k", k), ("v", v)) if one is not None}
    both = (("cache_batch_idx", cache_batch_idx), ("cache_leftpad", cache_leftpad))
    indices = {name: one for name, one in both if one is not None}
    check_tensors(OP, {**required, **new, **indices})
    for name, one in {**required, **new}.items():
        if one.dim() != 4:
            raise ValueError(f"{OP}: {name} must be [B, S, H, D], not {tuple(one.shape)}")
    check_alike(OP, {**required, **new})
    batch, slots = q.shape[0], k_cache.shape[0]
    if cache_batch_idx is None and slots < batch:
        raise ValueError(f"{OP}: k_cache holds {slots} sequences, q {batch}; pass cache_batch_idx")
    check_shape(OP, "v_cache", v_cache, (*k_cache.shape[:3], v_cache.shape[3]), "with this k_cache")
    if k is not None and v is not None:
        count = k.shape[1]
        check_shape(OP, "k", k, (batch, count, *k_cache.shape[2:]), "with these q and k_cache")
        check_shape(OP, "v", v, (batch, count, *v_cache.shape[2:]), "with these q, k and v_cache")
    for name, one in indices.items():
        check_shape(OP, name, one, (batch,), "with this q")
        if one.dtype not in INTEGERS or one.device != q.device:
            raise ValueError(f"{OP}: {name} must be int32 on {q.device}, not {one.dtype} on {one.device}")


def _length_tensor(lengths: Any, default: int, most: int, batch: int, device: torch.device) -> torch.Tensor:
    """int32 [B]."""
    if isinstance(lengths, torch.Tensor):
        check_tensors(OP, {"cache_seqlens": lengths})
        if lengths.device.type == "meta" or lengths.shape not in ((), (batch,)) or lengths.dtype not in INTEGERS:
            raise ValueError(
                f"{OP}: cache_seqlens must be int32 [{batch}] with this q, not {lengths.dtype} {tuple(lengths.shape)} "
                f"on {lengths.device}"
            )
        return lengths.to(device=device, dtype=torch.int32).expand(batch)
    length = default if lengths is None else check_integer(OP, "cache_seqlens", lengths, 0, most)
    return torch.full((batch,), length, dtype=torch.int32, device=device)
