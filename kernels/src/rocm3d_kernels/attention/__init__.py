"""Attention over dense and packed sequences, with the fastest backend that works on this machine."""

from __future__ import annotations

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.attention.problem import AttentionProblem, Spans, spans_from_cu_seqlens, validate  # noqa: E402
from rocm3d_kernels.attention.tiers import run_first_supported  # noqa: E402

__all__ = ["Spans", "attention", "spans_from_cu_seqlens"]


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    spans: Spans | None = None,
    *,
    scale: float | None = None,
    causal: bool = False,
    window: tuple[int, int] = (-1, -1),
    top_left: bool = False,
    softcap: float = 0.0,
    slopes: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    dropout: float = 0.0,
    deterministic: bool = False,
) -> torch.Tensor:
    """softmax(scale * q k^T) v for tensors [B, S, H, D], or with `spans` for packed tensors [T, H, D].

    The heads of q may be a multiple of the heads of k and v. `causal` and `window` (left, right; -1: no limit) are
    aligned to the last query and key, with `top_left` to the first. `slopes` are the ALiBi slopes, [H] or [N, H].
    `bias` is [B, H, S, S] or broadcasts to it. `deterministic`: equal inputs give bitwise equal gradients. A query that
    sees no key gets zeros. `last_dispatch()` names the backend that ran and the reason.
    """
    if slopes is not None and slopes.shape[-1] != q.shape[-2]:
        raise ValueError(f"attention: q has {q.shape[-2]} heads, but slopes has shape {tuple(slopes.shape)}")
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"attention: dropout is {dropout}; it must be in [0, 1)")
    left, right = (int(side) for side in window)
    problem = AttentionProblem(
        q, k, v, float(q.shape[-1] ** -0.5 if scale is None else scale), spans, left, 0 if causal else right,
        top=top_left, softcap=float(softcap or 0.0), slopes=slopes, bias=bias, dropout=float(dropout),
        deterministic=deterministic,
    )  # fmt: skip
    return run_first_supported(validate(problem))
