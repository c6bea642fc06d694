"""Checks of attention for `rocm3d smoke`: packed sequences of mixed length, output and gradient against float64."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.attention import attention, reference, spans_from_cu_seqlens
from rocm3d_kernels.attention.problem import AttentionProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check

FORWARD, GRADIENT = "float16-attention", "float16-attention-gradient"
QUERIES, KEYS, HEADS, KV_HEADS, HEAD_SIZE = (70, 0, 129, 5, 33), (70, 4, 200, 64, 0), 4, 2, 64


def checks(device: torch.device | str) -> Iterator[Check]:
    """Covers lengths that divide no tile, an empty sequence, rows without keys and grouped heads."""
    generator = torch.Generator().manual_seed(1)
    shapes = ((sum(QUERIES), HEADS, HEAD_SIZE), (sum(KEYS), KV_HEADS, HEAD_SIZE), (sum(KEYS), KV_HEADS, HEAD_SIZE))
    q, k, v = (torch.randn(shape, generator=generator).half() for shape in shapes)
    cu_q, cu_k = (torch.tensor([0, *accumulate(row)], dtype=torch.int32) for row in (QUERIES, KEYS))
    exact_problem = AttentionProblem(
        q, k, v, HEAD_SIZE**-0.5, spans_from_cu_seqlens(cu_q, cu_k, max(QUERIES), max(KEYS)), right=0
    )
    exact_problem = replace(exact_problem, q=q.double(), k=k.double(), v=v.double())
    out, lse = reference.forward(exact_problem)
    dk = reference.backward(exact_problem, out, lse, torch.ones_like(out))[1]
    queries, keys, values = (one.to(device).requires_grad_() for one in (q, k, v))
    spans = spans_from_cu_seqlens(cu_q.to(device), cu_k.to(device), max(QUERIES), max(KEYS))

    def result() -> torch.Tensor:
        return attention(queries, keys, values, spans, causal=True)

    yield "attention packed", result, out, FORWARD
    yield "attention packed gradient", lambda: torch.autograd.grad(result().sum(), keys)[0], dk, GRADIENT
