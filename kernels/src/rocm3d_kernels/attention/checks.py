"""Checks of attention for `rocm3d smoke`: packed sequences of mixed length, output and gradient against float64."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.attention import attention, reference, spans_of
from rocm3d_kernels.attention.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.offered import Check

FORWARD, GRADIENT = "float16-attention", "float16-attention-gradient"
QUERIES, KEYS, HEADS, SHARED, SIZE = (70, 0, 129, 5, 33), (70, 4, 200, 64, 0), 4, 2, 64


def checks(device: torch.device | str) -> Iterator[Check]:
    """Covers lengths that divide no tile, an empty sequence, rows without keys and grouped heads."""
    numbers = torch.Generator().manual_seed(1)
    shapes = ((sum(QUERIES), HEADS, SIZE), (sum(KEYS), SHARED, SIZE), (sum(KEYS), SHARED, SIZE))
    q, k, v = (torch.randn(shape, generator=numbers).half() for shape in shapes)
    cu_q, cu_k = (torch.tensor([0, *accumulate(row)], dtype=torch.int32) for row in (QUERIES, KEYS))
    exact = Problem(q, k, v, SIZE**-0.5, spans_of(cu_q, cu_k, max(QUERIES), max(KEYS)), right=0)
    exact = replace(exact, q=q.double(), k=k.double(), v=v.double())
    out, kept = reference.forward(exact)
    by_key = reference.backward(exact, out, kept, torch.ones_like(out))[1]
    queries, keys, values = (one.to(device).requires_grad_() for one in (q, k, v))
    spans = spans_of(cu_q.to(device), cu_k.to(device), max(QUERIES), max(KEYS))

    def result() -> torch.Tensor:
        return attention(queries, keys, values, spans, causal=True)

    yield "attention packed", result, out, FORWARD
    yield "attention packed gradient", lambda: torch.autograd.grad(result().sum(), keys)[0], by_key, GRADIENT
