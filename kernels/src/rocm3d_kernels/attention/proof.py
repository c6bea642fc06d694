"""Tries a library's attention once on a small problem of the same kind, before the library is used.

An installed library may be broken, and corner cases differ between releases and hardware: the alignment of a causal
mask, sequences without tokens, rows without keys. A library that disagrees with plain PyTorch is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from typing import Any

import torch

from rocm3d_kernels.attention import reference
from rocm3d_kernels.attention.problem import EVERYTHING, Problem, spans_of

# Absolute, for normally distributed inputs: many times the rounding error, far below the error of a wrong mask.
ALLOWED = {torch.float64: 1e-6, torch.float32: 1e-2, torch.float16: 2e-2, torch.bfloat16: 1e-1}
LENGTHS = ((5, 20, 0, 3), (9, 11, 4, 0))
EQUAL = (5, 1, 20)
_KNOWN: dict[tuple[Any, ...], str] = {}


def tried(name: str, run: Callable[[Problem], torch.Tensor], problem: Problem) -> str:
    """Empty if the library works for problems of this kind, else the reason why it does not."""
    # The reference has no bias and no dropout to compare with; only PyTorch's dense function supports them.
    if torch.compiler.is_compiling() or problem.bias is not None or problem.dropout > 0:
        return ""
    kind = (name, *_kind(problem))
    if kind not in _KNOWN:
        if problem.q.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            return "not tried yet; it cannot be tried while a CUDA graph is captured"
        with torch.inference_mode(False), torch.autocast(problem.q.device.type, enabled=False):
            _KNOWN[kind] = _tried(run, problem)
    return _KNOWN[kind]


def _kind(problem: Problem) -> tuple[Any, ...]:
    """Everything that decides which code of a library runs."""
    spans = problem.spans
    lengths = _dense_lengths(problem) if spans is None else spans.same
    sizes = (problem.q.shape[-1], problem.v.shape[-1], problem.group)
    limits = (
        (problem.left >= 0, problem.right, problem.top) if problem.right <= 0 else (problem.left >= 0, 1, problem.top)
    )
    changes = (problem.softcap > 0, problem.slopes is not None and problem.slopes.ndim)
    return (problem.q.device, problem.q.dtype, lengths, *sizes, *limits, *changes, problem.trains)


def _dense_lengths(problem: Problem) -> tuple[int, int]:
    queries, keys = problem.q.shape[1], problem.k.shape[1]
    return (19, 19) if queries == keys else (5, 19) if queries < keys else (19, 5)


def _tried(run: Callable[[Problem], torch.Tensor], problem: Problem) -> str:
    small = _small(problem)
    wanted = small.packed()
    exact = replace(wanted, **{name: getattr(wanted, name).detach().double() for name in ("q", "k", "v")})
    out, kept = reference.forward(exact)
    try:
        with torch.set_grad_enabled(problem.trains):
            found = [run(small)]
            given = torch.ones_like(found[0]).cumsum(-1).remainder(3) - 1
            if problem.trains:
                found += torch.autograd.grad(found[0], (small.q, small.k, small.v), given)
    except Exception as error:  # noqa: BLE001  (a library may raise anything; it is then not used)
        return f"trial failed: {type(error).__name__}: {str(error).strip().partition(chr(10))[0][:120]}"
    truth = [out]
    if problem.trains:
        truth += reference.backward(exact, out, kept, given.reshape(out.shape).double())
    for one, two in zip(found, truth, strict=True):
        worst = float((one.detach().reshape(two.shape).double() - two).abs().nan_to_num(torch.inf).max())
        if worst > ALLOWED[problem.q.dtype]:
            return f"trial was wrong by {worst:.2g}"
    return ""


def _small(problem: Problem) -> Problem:
    """A problem of the same kind with some dozens of tokens."""
    numbers = torch.Generator().manual_seed(1)
    like, group, heads = problem.q, problem.group, 2
    rows = (EQUAL, EQUAL) if problem.spans is not None and problem.spans.same else LENGTHS
    lead = [(2, length) for length in _dense_lengths(problem)]
    spans = None
    if problem.spans is not None:
        cumulative = [torch.tensor([0, *accumulate(one)], dtype=torch.int32, device=like.device) for one in rows]
        second = cumulative[0] if rows[0] == rows[1] else cumulative[1]
        spans = spans_of(cumulative[0], second, max(rows[0]), max(rows[1]))
        lead = [(sum(one),) for one in rows]  # type: ignore[misc]
    shapes = (
        (*lead[0], heads * group, like.shape[-1]),
        (*lead[1], heads, like.shape[-1]),
        (*lead[1], heads, problem.v.shape[-1]),
    )
    q, k, v = (torch.randn(shape, generator=numbers).to(like.device, like.dtype) for shape in shapes)
    slopes = None
    if problem.slopes is not None:
        count = 2 if spans is None else spans.q_starts.numel()
        slopes = torch.linspace(0.1, 0.9, heads * group, device=like.device)
        slopes = slopes.expand(count, -1).contiguous() if problem.slopes.ndim == 2 else slopes
    for one in (q, k, v):
        one.requires_grad_(problem.trains)
    left = EVERYTHING if problem.left < 0 else 3
    right = min(problem.right, 2)
    return replace(problem, q=q, k=k, v=v, spans=spans, left=left, right=right, slopes=slopes)
