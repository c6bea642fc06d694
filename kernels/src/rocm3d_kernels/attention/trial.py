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
from rocm3d_kernels.attention.problem import NO_LIMIT, AttentionProblem, spans_from_cu_seqlens
from rocm3d_kernels.backoff import ExponentialBackoff
from rocm3d_kernels.transient import first_line, is_transient

# Absolute, for normally distributed inputs: many times the rounding error, far below the error of a wrong mask.
TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-2, torch.float16: 2e-2, torch.bfloat16: 1e-1}
LENGTHS = ((5, 20, 0, 3), (9, 11, 4, 0))
EQUAL_LENGTHS = (5, 1, 20)
_RESULTS: dict[tuple[Any, ...], str] = {}
# Trials that failed for a moment, such as without free GPU memory, by the same keys.
_BACKOFFS: dict[tuple[Any, ...], ExponentialBackoff] = {}


def trial_failure(name: str, run: Callable[[AttentionProblem], torch.Tensor], problem: AttentionProblem) -> str:
    """Empty if the library works for problems of this kind, else the reason why it does not."""
    # The reference has no bias and no dropout to compare with; only PyTorch's dense function supports them.
    if torch.compiler.is_compiling() or problem.bias is not None or problem.dropout > 0:
        return ""
    kind = (name, *_problem_kind(problem))
    if kind not in _RESULTS:
        if problem.q.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            return "not tried yet; it cannot be tried while a CUDA graph is captured"
        backoff = _BACKOFFS.setdefault(kind, ExponentialBackoff())
        if not backoff.should_try():
            return f"not tried again yet; its trial failed for the moment {backoff.failures} times"
        try:
            with torch.inference_mode(False), torch.autocast(problem.q.device.type, enabled=False):
                _RESULTS[kind] = _run_trial(run, problem)
        except Exception as error:
            if not is_transient(error):
                raise
            backoff.fail()
            return f"trial failed for the moment: {first_line(error)}"
        _BACKOFFS.pop(kind, None)
    return _RESULTS[kind]


def _problem_kind(problem: AttentionProblem) -> tuple[Any, ...]:
    """Everything that decides which code of a library runs."""
    spans = problem.spans
    lengths = _dense_lengths(problem) if spans is None else spans.same
    sizes = (problem.q.shape[-1], problem.v.shape[-1], problem.group)
    limits = (
        (problem.left >= 0, problem.right, problem.top) if problem.right <= 0 else (problem.left >= 0, 1, problem.top)
    )
    score_changes = (problem.softcap > 0, problem.slopes is not None and problem.slopes.ndim)
    return (problem.q.device, problem.q.dtype, lengths, *sizes, *limits, *score_changes, problem.needs_grad)


def _dense_lengths(problem: AttentionProblem) -> tuple[int, int]:
    queries, keys = problem.q.shape[1], problem.k.shape[1]
    return (19, 19) if queries == keys else (5, 19) if queries < keys else (19, 5)


def _run_trial(run: Callable[[AttentionProblem], torch.Tensor], problem: AttentionProblem) -> str:
    small = _small_problem(problem)
    packed = small.packed()
    exact = replace(packed, **{name: getattr(packed, name).detach().double() for name in ("q", "k", "v")})
    out, lse = reference.forward(exact)
    try:
        with torch.set_grad_enabled(problem.needs_grad):
            results = [run(small)]
            do = torch.ones_like(results[0]).cumsum(-1).remainder(3) - 1
            if problem.needs_grad:
                results += torch.autograd.grad(results[0], (small.q, small.k, small.v), do)
    except Exception as error:
        if is_transient(error):
            raise
        return f"trial failed: {first_line(error)}"
    expected = [out]
    if problem.needs_grad:
        expected += reference.backward(exact, out, lse, do.reshape(out.shape).double())
    for result, exact_result in zip(results, expected, strict=True):
        worst = float(
            (result.detach().reshape(exact_result.shape).double() - exact_result).abs().nan_to_num(torch.inf).max()
        )
        if worst > TOLERANCE[problem.q.dtype]:
            return f"trial was wrong by {worst:.2g}"
    return ""


def _small_problem(problem: AttentionProblem) -> AttentionProblem:
    """A problem of the same kind with some dozens of tokens."""
    generator = torch.Generator().manual_seed(1)
    like, group, heads = problem.q, problem.group, 2
    lengths = (EQUAL_LENGTHS, EQUAL_LENGTHS) if problem.spans is not None and problem.spans.same else LENGTHS
    leading_shapes = [(2, length) for length in _dense_lengths(problem)]
    spans = None
    if problem.spans is not None:
        cumulative = [torch.tensor([0, *accumulate(one)], dtype=torch.int32, device=like.device) for one in lengths]
        second = cumulative[0] if lengths[0] == lengths[1] else cumulative[1]
        spans = spans_from_cu_seqlens(cumulative[0], second, max(lengths[0]), max(lengths[1]))
        leading_shapes = [(sum(one),) for one in lengths]  # type: ignore[misc]
    shapes = (
        (*leading_shapes[0], heads * group, like.shape[-1]),
        (*leading_shapes[1], heads, like.shape[-1]),
        (*leading_shapes[1], heads, problem.v.shape[-1]),
    )
    q, k, v = (torch.randn(shape, generator=generator).to(like.device, like.dtype) for shape in shapes)
    slopes = None
    if problem.slopes is not None:
        count = 2 if spans is None else spans.q_starts.numel()
        slopes = torch.linspace(0.1, 0.9, heads * group, device=like.device)
        slopes = slopes.expand(count, -1).contiguous() if problem.slopes.ndim == 2 else slopes
    for one in (q, k, v):
        one.requires_grad_(problem.needs_grad)
    left = NO_LIMIT if problem.left < 0 else 3
    right = min(problem.right, 2)
    return replace(problem, q=q, k=k, v=v, spans=spans, left=left, right=right, slopes=slopes)
