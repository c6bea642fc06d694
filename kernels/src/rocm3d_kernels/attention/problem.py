"""What is asked of attention: tensors, which keys a query sees, and how scores are changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from rocm3d_kernels.dispatch import one_device

EVERYTHING = -1  # of a window's side: no limit
MOST = 2**30  # tokens


class Spans(NamedTuple):
    """Sequences in packed tensors: sequence n has tokens starts[n] to ends[n] of the queries, and of the keys.

    Queries lie one after another; keys may have gaps between. `same`: queries and keys have equal lengths.
    `cumulative`: starts and ends as one tensor each, [N + 1], where keys have no gaps either.
    """

    q_starts: torch.Tensor
    q_ends: torch.Tensor
    k_starts: torch.Tensor
    k_ends: torch.Tensor
    max_q: int
    max_k: int
    same: bool = False
    cumulative: tuple[torch.Tensor, torch.Tensor] | None = None


@dataclass(frozen=True)
class Problem:
    """Dense tensors are [B, S, H, D] and have no spans, packed ones are [T, H, D].

    Query i sees key j if `i + d - left <= j <= i + d + right`, where d is keys less queries of its sequence, or zero
    with `top`. Scores become `softcap * tanh(score / softcap)`, then less `slopes[h] * |i + d - j|`, then plus `bias`.
    With `deterministic` equal inputs give equal bits on the way back, too.
    """

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    scale: float
    spans: Spans | None = None
    left: int = EVERYTHING
    right: int = EVERYTHING
    top: bool = False
    softcap: float = 0.0
    slopes: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    dropout: float = 0.0
    deterministic: bool = False

    @property
    def group(self) -> int:
        """Heads of queries for each head of keys."""
        return int(self.q.shape[-2] // max(self.k.shape[-2], 1))

    @property
    def causal(self) -> bool:
        """Nothing after its own place, everything before."""
        return self.left < 0 and self.right == 0

    @property
    def trains(self) -> bool:
        """Whether a gradient will be asked for."""
        return torch.is_grad_enabled() and any(one.requires_grad for one in (self.q, self.k, self.v))

    def wants(self) -> list[str]:
        """Names of what is beyond plain and causal attention."""
        asked = {
            "a window": self.left >= 0 or self.right > 0,
            "softcap": self.softcap > 0,
            "alibi_slopes": self.slopes is not None,
            "a bias tensor": self.bias is not None,
            "dropout": self.dropout > 0,
            "keys with gaps": self.spans is not None and self.spans.cumulative is None,
        }
        return [name for name, yes in asked.items() if yes]

    def packed(self) -> Problem:
        """The same with spans."""
        if self.spans is not None:
            return self
        batch, queries, keys = self.q.shape[0], self.q.shape[1], self.k.shape[1]
        cu_q = torch.arange(0, batch + 1, dtype=torch.int32, device=self.q.device) * queries
        cu_k = cu_q if queries == keys else torch.arange(0, batch + 1, dtype=torch.int32, device=self.q.device) * keys
        flat = [one.reshape(-1, *one.shape[2:]) for one in (self.q, self.k, self.v)]
        return replace(self, q=flat[0], k=flat[1], v=flat[2], spans=spans_of(cu_q, cu_k, queries, keys))


def spans_of(cu_q: torch.Tensor, cu_k: torch.Tensor, max_q: int, max_k: int) -> Spans:
    """Of cumulative lengths, [N + 1] each, the first one zero."""
    for name, cu in (("cu_seqlens_q", cu_q), ("cu_seqlens_k", cu_k)):
        if cu.ndim != 1 or cu.numel() == 0 or cu.dtype not in (torch.int32, torch.int64):
            raise ValueError(f"attention: {name} is one row of int32, not {cu.dtype} {tuple(cu.shape)}")
    if cu_q.shape != cu_k.shape:
        raise ValueError(f"attention: {cu_q.numel() - 1} sequences of queries, {cu_k.numel() - 1} of keys")
    same = cu_q is cu_k
    if not same and not torch.compiler.is_compiling():  # views of one tensor, as some programs pass them
        same = cu_q.data_ptr() == cu_k.data_ptr() and cu_q.stride() == cu_k.stride()
    first = cu_q.int().contiguous()
    second = first if same else cu_k.int().contiguous()
    _lengths("q", first, int(max_q))
    _lengths("k", second, int(max_k))
    return Spans(first[:-1], first[1:], second[:-1], second[1:], int(max_q), int(max_k), same, (first, second))


def _lengths(name: str, cu: torch.Tensor, most: int) -> None:
    """Looked at on the CPU only: on a GPU that would wait for it, so that these numbers are trusted there."""
    if cu.device.type != "cpu" or torch.compiler.is_compiling() or type(cu) is not torch.Tensor or cu.numel() < 2:
        return
    lengths = cu.diff()
    if int(cu[0]) != 0 or int(lengths.min()) < 0:
        raise ValueError(f"attention: cu_seqlens_{name} must begin with 0 and never fall")
    if int(lengths.max()) > most:
        raise ValueError(f"attention: max_seqlen_{name} is {most}, but a sequence has {int(lengths.max())} tokens")


def checked(problem: Problem) -> Problem:
    """The same after a look at shapes, with limits left out that limit nothing."""
    q, k, v = problem.q, problem.k, problem.v
    dimensions = 4 if problem.spans is None else 3
    names = "[B, S, H, D]" if problem.spans is None else "[T, H, D]"
    if {q.ndim, k.ndim, v.ndim} != {dimensions}:
        raise ValueError(f"attention: q, k, v are {names}, these have {q.ndim}, {k.ndim} and {v.ndim} dimensions")
    if k.shape[:-1] != v.shape[:-1] or q.shape[-1] != k.shape[-1] or (dimensions == 4 and q.shape[0] != k.shape[0]):
        raise ValueError(f"attention: shapes do not fit: {tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
    if k.shape[-2] == 0 or q.shape[-2] % k.shape[-2] or q.shape[-1] == 0:
        raise ValueError(f"attention: {q.shape[-2]} heads of queries for {k.shape[-2]} of keys, {q.shape[-1]} elements")
    if not q.dtype == k.dtype == v.dtype or not q.dtype.is_floating_point:
        raise TypeError(f"attention: q, k, v are of one floating dtype, not {q.dtype}, {k.dtype}, {v.dtype}")
    if q.dtype.itemsize == 1:
        raise TypeError(f"attention: {q.dtype} (fp8) is not covered by rocm3d-kernels")
    if max(q.shape[:-2].numel(), k.shape[:-2].numel()) >= MOST:
        raise ValueError(f"attention: 2**30 tokens or more in {tuple(q.shape)}, {tuple(k.shape)}: too many for 32 bits")
    others = [one for one in (problem.slopes, problem.bias) if one is not None]
    one_device("attention", [q, k, v, *(problem.spans[:4] if problem.spans else ()), *others])
    return _narrowed(problem)


def _narrowed(problem: Problem) -> Problem:
    """Limits of a window that reaches over everything are none; with equal lengths both corners are one."""
    spans, queries, keys = problem.spans, problem.q.shape[1], problem.k.shape[1]
    if spans is not None:
        queries, keys = spans.max_q, spans.max_k
    if problem.top and (queries != keys if spans is None else not spans.same):
        return replace(problem, left=max(problem.left, EVERYTHING), right=max(problem.right, EVERYTHING))
    left = EVERYTHING if problem.left >= keys - 1 else max(problem.left, EVERYTHING)
    right = EVERYTHING if problem.right >= queries - 1 else max(problem.right, EVERYTHING)
    return replace(problem, left=left, right=right, top=False)
