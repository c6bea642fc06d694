"""Attention over packed sequences in plain PyTorch: the reference that the kernels are compared with.

Vaswani et al., Attention Is All You Need, 2017; Press, Smith, Lewis, Train Short, Test Long (ALiBi), 2021. Scores are
computed for 256 queries at a time, across sequences, so the whole score matrix is never in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from rocm3d_kernels.attention.problem import Problem, Spans

ROWS = 256


class Block(NamedTuple):
    """Consecutive queries and the range of keys that any of them may see; their scores are [H, rows, columns]."""

    rows: slice
    columns: slice
    seen: torch.Tensor  # [rows, columns]
    distance: torch.Tensor  # [rows, columns], between the query's position among the keys and the key
    sequence: torch.Tensor  # [rows]


def blocks(problem: Problem, spans: Spans) -> Iterator[Block]:
    """Covers all queries that belong to a sequence."""
    q_starts, q_ends, k_starts, k_ends = (one.long() for one in spans[:4])
    total = int(q_ends[-1]) if q_ends.numel() else 0
    shift = torch.zeros_like(q_ends) if problem.top else (k_ends - k_starts) - (q_ends - q_starts)
    for first in range(0, total, ROWS):
        token = torch.arange(first, min(first + ROWS, total), device=q_ends.device)
        sequence = torch.searchsorted(q_ends, token, right=True)
        low, high = int(k_starts[sequence].min()), int(k_ends[sequence].max())
        key = torch.arange(low, max(high, low), device=q_ends.device)
        place = (token - q_starts[sequence] + shift[sequence] + k_starts[sequence])[:, None]
        seen = (key >= k_starts[sequence][:, None]) & (key < k_ends[sequence][:, None])
        if problem.left >= 0:
            seen &= key >= place - problem.left
        if problem.right >= 0:
            seen &= key <= place + problem.right
        rows = slice(first, first + token.numel())
        yield Block(rows, slice(low, max(high, low)), seen, (place - key).abs(), sequence)


def forward(problem: Problem) -> tuple[torch.Tensor, torch.Tensor]:
    """The output o [T, H, D] and lse [H, T], the natural log of each row's sum; infinite for a row without keys."""
    q, v, spans = problem.q, problem.v, _spans(problem)
    out = q.new_zeros(*q.shape[:2], v.shape[2])
    kept = torch.full((q.shape[1], q.shape[0]), torch.inf, dtype=_wide(q), device=q.device)
    for block in blocks(problem, spans):
        scores, _ = _scores(problem, block)
        sums = scores.logsumexp(-1) if scores.shape[-1] else scores.new_full(scores.shape[:2], -torch.inf)
        sums = torch.where(sums == -torch.inf, torch.inf, sums)
        weights = (scores - sums[..., None]).exp()
        out[block.rows] = (weights @ _heads(v[block.columns], problem.group)).transpose(0, 1).to(out.dtype)
        kept[:, block.rows] = sums
    return out, kept


def backward(
    problem: Problem, out: torch.Tensor, kept: torch.Tensor, given: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """dq, dk, dv."""
    wide = _wide(problem.q)
    by_q, by_k, by_v = (torch.zeros_like(one, dtype=wide) for one in (problem.q, problem.k, problem.v))
    for block in blocks(problem, _spans(problem)):
        scores, slack = _scores(problem, block)
        weights = (scores - kept[:, block.rows, None]).exp()
        grad = given[block.rows].transpose(0, 1).to(wide)
        delta = (grad * out[block.rows].transpose(0, 1).to(wide)).sum(-1, keepdim=True)
        change = weights * (grad @ _heads(problem.v[block.columns], problem.group).mT - delta) * slack * problem.scale
        by_q[block.rows] = (change @ _heads(problem.k[block.columns], problem.group)).transpose(0, 1)
        queries = problem.q[block.rows].transpose(0, 1).to(wide)
        by_k[block.columns] += _grouped(change.mT @ queries, problem.group)
        by_v[block.columns] += _grouped(weights.mT @ grad, problem.group)
    return by_q.to(problem.q.dtype), by_k.to(problem.k.dtype), by_v.to(problem.v.dtype)


def _scores(problem: Problem, block: Block) -> tuple[torch.Tensor, torch.Tensor | float]:
    """Masked scores of a block, and the derivative of the softcap."""
    queries = problem.q[block.rows].transpose(0, 1).to(_wide(problem.q))
    scores = queries @ _heads(problem.k[block.columns], problem.group).mT * problem.scale
    slack: torch.Tensor | float = 1.0
    if problem.softcap > 0:
        capped = (scores / problem.softcap).tanh()
        scores, slack = capped * problem.softcap, 1 - capped * capped
    if problem.slopes is not None:
        slopes = problem.slopes[block.sequence] if problem.slopes.ndim == 2 else problem.slopes[None]
        scores = scores - slopes.to(scores.dtype).mT[..., None] * block.distance
    return scores.masked_fill(~block.seen, -torch.inf), slack


def _heads(tokens: torch.Tensor, group: int) -> torch.Tensor:
    """[tokens, key heads, D] as [query heads, tokens, D], in the accumulation dtype."""
    return tokens.transpose(0, 1).to(_wide(tokens)).repeat_interleave(group, dim=0)


def _grouped(heads: torch.Tensor, group: int) -> torch.Tensor:
    """[query heads, tokens, D] as [tokens, key heads, D], summed over the query heads of each key head."""
    return heads.unflatten(0, (-1, group)).sum(1).transpose(0, 1)


def _wide(tensor: torch.Tensor) -> torch.dtype:
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def _spans(problem: Problem) -> Spans:
    if problem.spans is None:
        raise ValueError("attention: the reference supports packed tensors only")
    return problem.spans
