"""sageattention: `sageattn`, which the original computes with 8-bit products and we compute in full precision."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.arguments import check_tensors
from rocm3d_kernels.attention import attention
from rocm3d_kernels.dropin.declaration import DOCS

__all__ = ["sageattn"]

# Options of the quantisation, which is not done: ignored.
IGNORED = {"smooth_k", "smooth_v", "qk_quant_gran", "pv_accum_dtype"}


def sageattn(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    tensor_layout: str = "HND",
    is_causal: bool = False,
    sm_scale: float | None = None,
    return_lse: bool = False,
    attn_mask: torch.Tensor | None = None,
    **options: Any,
) -> torch.Tensor:
    """Attention of tensors [B, H, S, D], or [B, S, H, D] with the layout NHD; k and v may have fewer heads.

    With different lengths a causal mask is aligned to the first query and key, as in PyTorch's
    scaled_dot_product_attention, which programs replace by this function. Its keyword arguments are supported, its
    positional arguments are not.
    """
    if tensor_layout not in ("HND", "NHD"):
        raise ValueError(f"tensor_layout is {tensor_layout!r}; choose HND or NHD")
    if return_lse:
        raise NotImplementedError(f"return_lse is not covered by rocm3d-kernels: see {DOCS}")
    scale = options.pop("scale", None)
    dropout = options.pop("dropout_p", 0.0)
    unknown = sorted(set(options) - IGNORED)
    if unknown:
        raise TypeError(f"sageattn() got an unexpected keyword argument {unknown[0]!r}")
    check_tensors("sageattn", {"q": q, "k": k, "v": v})
    if q.ndim != 4 or k.ndim != 4 or v.ndim != 4:
        raise ValueError(f"sageattn: q, k and v must have 4 dimensions, not {q.ndim}, {k.ndim} and {v.ndim}")
    heads_first = tensor_layout == "HND"
    q, k, v = (one.transpose(1, 2) if heads_first else one for one in (q, k, v))
    output = attention(
        q, k, v, scale=sm_scale if sm_scale is not None else scale, causal=is_causal, top_left=True, bias=attn_mask,
        dropout=dropout,
    )  # fmt: skip
    return output.transpose(1, 2) if heads_first else output
