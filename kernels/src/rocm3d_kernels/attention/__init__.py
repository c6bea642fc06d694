"""Attention over dense and packed sequences, with the fastest backend that works on this machine."""

from __future__ import annotations

from dataclasses import replace

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import MAX_INT32, check_integer, check_number, check_tensors, describe  # noqa: E402
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
    check_tensors("attention", {"q": q, "k": k, "v": v})
    dropout = check_number("attention", "dropout", dropout)
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"attention: dropout is {dropout}; it must be in [0, 1)")
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise ValueError(f"attention: window must be two integers, not {describe(window)}")
    left, right = (check_integer("attention", "window", side, -MAX_INT32) for side in window)
    if scale is not None:
        scale = check_number("attention", "scale", scale)
    softcap = check_number("attention", "softcap", softcap or 0.0, least=0.0)
    problem = AttentionProblem(
        q, k, v, 0.0 if scale is None else scale, spans, left, 0 if causal else right, top=bool(top_left),
        softcap=softcap, slopes=slopes, bias=bias, dropout=dropout, deterministic=bool(deterministic),
    )  # fmt: skip
    problem = validate(problem)
    return run_first_supported(problem if scale is not None else replace(problem, scale=float(q.shape[-1] ** -0.5)))
