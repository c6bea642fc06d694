"""Inputs of one attention call: tensors, sequences, mask and score changes; with their validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from rocm3d_kernels.arguments import check_integer, check_tensors

NO_LIMIT = -1  # a side of the window without limit
MAX_TOKENS = 2**30  # tokens


class Spans(NamedTuple):
    """Token ranges of N packed sequences: sequence n has tokens starts[n] to ends[n] (exclusive) of q and of k, v.

    Queries are contiguous; keys may have gaps between sequences. `same`: queries and keys have equal lengths.
    `cumulative`: cu_seqlens of q and k, [N + 1] each; None if keys have gaps.
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
class AttentionProblem:
    """Dense tensors are [B, S, H, D] and have no spans; packed tensors are [T, H, D].

    Query i sees key j if `i + d - left <= j <= i + d + right`, where d is the number of keys minus the number of
    queries of its sequence, or zero with `top` (mask aligned to the top left corner). In this order, a score becomes
    `softcap * tanh(score / softcap)`, loses `slopes[h] * |i + d - j|` and gains `bias`. `deterministic` asks for
    bitwise equal gradients.
    """

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    scale: float
    spans: Spans | None = None
    left: int = NO_LIMIT
    right: int = NO_LIMIT
    top: bool = False
    softcap: float = 0.0
    slopes: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    dropout: float = 0.0
    deterministic: bool = False

    @property
    def group(self) -> int:
        """Query heads per key head."""
        return int(self.q.shape[-2] // max(self.k.shape[-2], 1))

    @property
    def causal(self) -> bool:
        """A query sees all keys up to its own position."""
        return self.left < 0 and self.right == 0

    @property
    def needs_grad(self) -> bool:
        """Whether autograd may call backward."""
        return torch.is_grad_enabled() and any(one.requires_grad for one in (self.q, self.k, self.v))

    def features(self) -> list[str]:
        """Names of the requested features beyond plain and causal attention, as they appear in messages."""
        requested = {
            "a window": self.left >= 0 or self.right > 0,
            "softcap": self.softcap > 0,
            "alibi_slopes": self.slopes is not None,
            "a bias tensor": self.bias is not None,
            "dropout": self.dropout > 0,
            "keys with gaps": self.spans is not None and self.spans.cumulative is None,
        }
        return [name for name, is_requested in requested.items() if is_requested]

    def packed(self) -> AttentionProblem:
        """The same problem with tensors [T, H, D] and spans."""
        if self.spans is not None:
            return self
        batch, queries, keys = self.q.shape[0], self.q.shape[1], self.k.shape[1]
        cu_q = torch.arange(0, batch + 1, dtype=torch.int32, device=self.q.device) * queries
        cu_k = cu_q if queries == keys else torch.arange(0, batch + 1, dtype=torch.int32, device=self.q.device) * keys
        flat = [one.reshape(-1, *one.shape[2:]) for one in (self.q, self.k, self.v)]
        return replace(self, q=flat[0], k=flat[1], v=flat[2], spans=spans_from_cu_seqlens(cu_q, cu_k, queries, keys))


def spans_from_cu_seqlens(cu_q: torch.Tensor, cu_k: torch.Tensor, max_q: int, max_k: int) -> Spans:
    """Spans from cumulative lengths, [N + 1] each, starting at zero."""
    check_tensors("attention", {"cu_seqlens_q": cu_q, "cu_seqlens_k": cu_k})
    max_q = check_integer("attention", "max_seqlen_q", max_q, 0)
    max_k = check_integer("attention", "max_seqlen_k", max_k, 0)
    for name, cu in (("cu_seqlens_q", cu_q), ("cu_seqlens_k", cu_k)):
        if cu.ndim != 1 or cu.numel() == 0 or cu.dtype not in (torch.int32, torch.int64):
            raise ValueError(f"attention: {name} must be int32 of shape [N + 1], not {cu.dtype} {tuple(cu.shape)}")
    if cu_q.shape != cu_k.shape:
        raise ValueError(
            f"attention: cu_seqlens_q has {cu_q.numel() - 1} sequences, cu_seqlens_k has {cu_k.numel() - 1}"
        )
    same = cu_q is cu_k
    if not same and not torch.compiler.is_compiling():  # views of one tensor, as some programs pass them
        same = cu_q.data_ptr() == cu_k.data_ptr() and cu_q.stride() == cu_k.stride()
    first = cu_q.int().contiguous()
    second = first if same else cu_k.int().contiguous()
    _check_lengths("q", first, max_q)
    _check_lengths("k", second, max_k)
    return Spans(first[:-1], first[1:], second[:-1], second[1:], max_q, max_k, same, (first, second))


def _check_lengths(name: str, cu: torch.Tensor, max_length: int) -> None:
    """Checked on the CPU only: on a GPU the check would synchronize, so lengths are trusted there."""
    if cu.device.type != "cpu" or torch.compiler.is_compiling() or type(cu) is not torch.Tensor or cu.numel() < 2:
        return
    lengths = cu.diff()
    if int(cu[0]) != 0 or int(lengths.min()) < 0:
        raise ValueError(f"attention: cu_seqlens_{name} must start with 0 and never decrease")
    if int(lengths.max()) > max_length:
        raise ValueError(
            f"attention: max_seqlen_{name} is {max_length}, but a sequence has {int(lengths.max())} tokens"
        )


def validate(problem: AttentionProblem) -> AttentionProblem:
    """The same problem, with window limits that exclude no key removed. Raises if shapes, dtypes or devices differ."""
    q, k, v = problem.q, problem.k, problem.v
    dimensions = 4 if problem.spans is None else 3
    names = "[B, S, H, D]" if problem.spans is None else "[T, H, D]"
    if {q.ndim, k.ndim, v.ndim} != {dimensions}:
        raise ValueError(f"attention: q, k, v must be {names}; they have {q.ndim}, {k.ndim} and {v.ndim} dimensions")
    if k.shape[:-1] != v.shape[:-1] or q.shape[-1] != k.shape[-1] or (dimensions == 4 and q.shape[0] != k.shape[0]):
        raise ValueError(f"attention: q, k, v have shapes {tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
    if k.shape[-2] == 0 or q.shape[-2] % k.shape[-2] or q.shape[-1] == 0:
        raise ValueError(
            f"attention: {q.shape[-2]} query heads are no multiple of {k.shape[-2]} key heads, head size {q.shape[-1]}"
        )
    if not q.dtype == k.dtype == v.dtype or not q.dtype.is_floating_point:
        raise TypeError(f"attention: q, k, v must have one floating dtype, not {q.dtype}, {k.dtype}, {v.dtype}")
    if q.dtype.itemsize == 1:
        raise TypeError(f"attention: rocm3d-kernels does not support {q.dtype} (fp8)")
    if max(q.shape[:-2].numel(), k.shape[:-2].numel()) >= MAX_TOKENS:
        raise ValueError(f"attention: q {tuple(q.shape)} or k {tuple(k.shape)} has 2**30 tokens or more, the limit")
    _check_score_changes(problem)
    _check_devices(problem)
    _check_spans(problem)
    return _normalize_window(problem)


def _check_devices(problem: AttentionProblem) -> None:
    spans = dict(zip(("q_starts", "q_ends", "k_starts", "k_ends"), (problem.spans or ())[:4], strict=False))
    tensors = {"k": problem.k, "v": problem.v, "slopes": problem.slopes, "bias": problem.bias, **spans}
    for name, one in tensors.items():
        if one is not None and one.device != problem.q.device:
            shown = f"cu_seqlens_{name[0]}" if name in spans else name
            raise ValueError(
                f"attention: tensors are on different devices: q on {problem.q.device}, {shown} on {one.device}"
            )


def _check_spans(problem: AttentionProblem) -> None:
    """Checked on the CPU only, as in `_check_lengths`: elsewhere the sequences must lie inside the tensors."""
    spans = problem.spans
    if spans is None or torch.compiler.is_compiling() or problem.q.device.type != "cpu":
        return
    for name, starts, ends, tensor in (
        ("q", spans.q_starts, spans.q_ends, problem.q),
        ("k", spans.k_starts, spans.k_ends, problem.k),
    ):
        if type(starts) is not torch.Tensor or not starts.numel():
            continue
        first, last = int(starts.min()), int(ends.max())
        if first < 0 or last > tensor.shape[0]:
            raise ValueError(
                f"attention: sequences of {name} (cu_seqlens_{name}) are from {first} to {last}, but {name} has "
                f"{tensor.shape[0]} tokens"
            )


def _check_score_changes(problem: AttentionProblem) -> None:
    """Raises if slopes or bias are no tensors or do not match q and k."""
    q, slopes, bias = problem.q, problem.slopes, problem.bias
    if slopes is not None:
        check_tensors("attention", {"slopes": slopes})
        sequences = q.shape[0] if problem.spans is None else problem.spans.q_starts.numel()
        if slopes.shape not in ((q.shape[-2],), (sequences, q.shape[-2])) or not slopes.is_floating_point():
            raise ValueError(
                f"attention: q has {q.shape[-2]} heads and {sequences} sequences, but slopes has shape "
                f"{tuple(slopes.shape)} and dtype {slopes.dtype}; it must be float32 [H] or [N, H]"
            )
    if bias is not None:
        check_tensors("attention", {"bias": bias})
        if bias.dtype not in (torch.bool, torch.float32, q.dtype):
            raise TypeError(f"attention: bias must be {q.dtype} like q, float32 or bool, not {bias.dtype}")
        if problem.spans is None:
            full = (q.shape[0], q.shape[2], q.shape[1], problem.k.shape[1])
            sizes = (*(1,) * (4 - bias.ndim), *bias.shape)
            if bias.ndim > 4 or any(size not in (1, most) for size, most in zip(sizes, full, strict=True)):
                raise ValueError(f"attention: bias must broadcast to {full}, [B, H, S, S], not {tuple(bias.shape)}")


def _normalize_window(problem: AttentionProblem) -> AttentionProblem:
    """Removes limits that exclude no key; `top` too if lengths are equal, where both alignments are the same."""
    spans, queries, keys = problem.spans, problem.q.shape[1], problem.k.shape[1]
    if spans is not None:
        queries, keys = spans.max_q, spans.max_k
    if problem.top and (queries != keys if spans is None else not spans.same):
        return replace(problem, left=max(problem.left, NO_LIMIT), right=max(problem.right, NO_LIMIT))
    left = NO_LIMIT if problem.left >= keys - 1 else max(problem.left, NO_LIMIT)
    right = NO_LIMIT if problem.right >= queries - 1 else max(problem.right, NO_LIMIT)
    return replace(problem, left=left, right=right, top=False)
