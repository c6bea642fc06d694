"""Attention over packed sequences in plain PyTorch: the reference that the kernels are compared with.

Vaswani et al., Attention Is All You Need, 2017; Press, Smith, Lewis, Train Short, Test Long (ALiBi), 2021. Scores are
computed for 256 queries at a time, across sequences, so the whole score matrix is never in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from rocm3d_kernels.attention.problem import AttentionProblem, Spans

ROWS = 256


class ScoreBlock(NamedTuple):
    """Consecutive queries and the range of keys that any of them may see; their scores are [H, rows, columns]."""

    rows: slice
    columns: slice
    visible: torch.Tensor  # [rows, columns]
    distance: torch.Tensor  # [rows, columns], between the query's position among the keys and the key
    sequence: torch.Tensor  # [rows]


def blocks(problem: AttentionProblem, spans: Spans) -> Iterator[ScoreBlock]:
    """Covers all queries that belong to a sequence."""
    q_starts, q_ends, k_starts, k_ends = (one.long() for one in spans[:4])
    total = int(q_ends[-1]) if q_ends.numel() else 0
    shift = torch.zeros_like(q_ends) if problem.top else (k_ends - k_starts) - (q_ends - q_starts)
    for first in range(0, total, ROWS):
        token = torch.arange(first, min(first + ROWS, total), device=q_ends.device)
        sequence = torch.searchsorted(q_ends, token, right=True)
        first_key, end_key = int(k_starts[sequence].min()), int(k_ends[sequence].max())
        key = torch.arange(first_key, max(end_key, first_key), device=q_ends.device)
        position = (token - q_starts[sequence] + shift[sequence] + k_starts[sequence])[:, None]
        visible = (key >= k_starts[sequence][:, None]) & (key < k_ends[sequence][:, None])
        if problem.left >= 0:
            visible &= key >= position - problem.left
        if problem.right >= 0:
            visible &= key <= position + problem.right
        rows = slice(first, first + token.numel())
        yield ScoreBlock(rows, slice(first_key, max(end_key, first_key)), visible, (position - key).abs(), sequence)


def forward(problem: AttentionProblem) -> tuple[torch.Tensor, torch.Tensor]:
    """The output o [T, H, D] and lse [H, T], the natural log of each row's sum; infinite for a row without keys."""
    q, v, spans = problem.q, problem.v, _required_spans(problem)
    out = q.new_zeros(*q.shape[:2], v.shape[2])
    lse = torch.full((q.shape[1], q.shape[0]), torch.inf, dtype=_accumulation_dtype(q), device=q.device)
    for block in blocks(problem, spans):
        scores, _ = _scores(problem, block)
        block_lse = scores.logsumexp(-1) if scores.shape[-1] else scores.new_full(scores.shape[:2], -torch.inf)
        block_lse = torch.where(block_lse == -torch.inf, torch.inf, block_lse)
        p = (scores - block_lse[..., None]).exp()
        out[block.rows] = (p @ _expand_heads(v[block.columns], problem.group)).transpose(0, 1).to(out.dtype)
        lse[:, block.rows] = block_lse
    return out, lse


def backward(
    problem: AttentionProblem, out: torch.Tensor, lse: torch.Tensor, do: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """dq, dk, dv."""
    dtype = _accumulation_dtype(problem.q)
    dq, dk, dv = (torch.zeros_like(one, dtype=dtype) for one in (problem.q, problem.k, problem.v))
    for block in blocks(problem, _required_spans(problem)):
        scores, cap_derivative = _scores(problem, block)
        p = (scores - lse[:, block.rows, None]).exp()
        do_block = do[block.rows].transpose(0, 1).to(dtype)
        delta = (do_block * out[block.rows].transpose(0, 1).to(dtype)).sum(-1, keepdim=True)
        ds = (
            p
            * (do_block @ _expand_heads(problem.v[block.columns], problem.group).mT - delta)
            * cap_derivative
            * problem.scale
        )
        dq[block.rows] = (ds @ _expand_heads(problem.k[block.columns], problem.group)).transpose(0, 1)
        queries = problem.q[block.rows].transpose(0, 1).to(dtype)
        dk[block.columns] += _sum_groups(ds.mT @ queries, problem.group)
        dv[block.columns] += _sum_groups(p.mT @ do_block, problem.group)
    return dq.to(problem.q.dtype), dk.to(problem.k.dtype), dv.to(problem.v.dtype)


def _scores(problem: AttentionProblem, block: ScoreBlock) -> tuple[torch.Tensor, torch.Tensor | float]:
    """Masked scores of a block, and the derivative of the softcap."""
    queries = problem.q[block.rows].transpose(0, 1).to(_accumulation_dtype(problem.q))
    scores = queries @ _expand_heads(problem.k[block.columns], problem.group).mT * problem.scale
    cap_derivative: torch.Tensor | float = 1.0
    if problem.softcap > 0:
        capped = (scores / problem.softcap).tanh()
        scores, cap_derivative = capped * problem.softcap, 1 - capped * capped
    if problem.slopes is not None:
        slopes = problem.slopes[block.sequence] if problem.slopes.ndim == 2 else problem.slopes[None]
        scores = scores - slopes.to(scores.dtype).mT[..., None] * block.distance
    return scores.masked_fill(~block.visible, -torch.inf), cap_derivative


def _expand_heads(tokens: torch.Tensor, group: int) -> torch.Tensor:
    """[tokens, key heads, D] as [query heads, tokens, D], in the accumulation dtype."""
    return tokens.transpose(0, 1).to(_accumulation_dtype(tokens)).repeat_interleave(group, dim=0)


def _sum_groups(heads: torch.Tensor, group: int) -> torch.Tensor:
    """[query heads, tokens, D] as [tokens, key heads, D], summed over the query heads of each key head."""
    return heads.unflatten(0, (-1, group)).sum(1).transpose(0, 1)


def _accumulation_dtype(tensor: torch.Tensor) -> torch.dtype:
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def _required_spans(problem: AttentionProblem) -> Spans:
    if problem.spans is None:
        raise ValueError("attention: the reference supports packed tensors only")
    return problem.spans
