"""Attention over packed sequences as one operator, `torch.ops.rocm3d_kernels.attention`, forward and backward."""

from __future__ import annotations

from typing import Any, Optional

import torch

from rocm3d_kernels.attention import reference
from rocm3d_kernels.attention.problem import AttentionProblem, Spans
from rocm3d_kernels.dispatch import choose
from rocm3d_kernels.registration import operation

KERNEL = ("float16", "bfloat16", "float32")
REFERENCE = (*KERNEL, "float64")


def packed_attention(problem: AttentionProblem, *, force_reference: bool = False) -> torch.Tensor:
    """The output [T, H, D] of a packed problem without bias and dropout. The flag forces plain PyTorch."""
    spans = problem.spans
    if spans is None or problem.bias is not None or problem.dropout:
        raise ValueError("attention: the operator supports packed tensors only, without bias and dropout")
    slopes = None if problem.slopes is None else problem.slopes.detach().float().contiguous()
    limits = (spans.max_q, spans.max_k, problem.scale, problem.left, problem.right)
    settings = (*limits, problem.softcap, problem.top, force_reference)
    output: torch.Tensor = _attention(problem.q, problem.k, problem.v, *spans[:4], slopes, *settings)[0]
    return output


def _unpack_arguments(arguments: tuple[Any, ...]) -> tuple[AttentionProblem, Spans]:
    q, k, v, q_starts, q_ends, k_starts, k_ends, slopes, max_q, max_k, scale, left, right, softcap, top = arguments
    spans = Spans(q_starts, q_ends, k_starts, k_ends, max_q, max_k)
    return AttentionProblem(q, k, v, scale, spans, left, right, top=top, softcap=softcap, slopes=slopes), spans


def _run(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    q_starts: torch.Tensor,
    q_ends: torch.Tensor,
    k_starts: torch.Tensor,
    k_ends: torch.Tensor,
    slopes: Optional[torch.Tensor],  # noqa: UP045
    max_q: int,
    max_k: int,
    scale: float,
    left: int,
    right: int,
    softcap: float,
    top: bool,
    force_reference: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The output o and lse, the logarithm of each row's sum (natural in the reference, base 2 in the kernels)."""
    bounds = (q_starts, q_ends, k_starts, k_ends)
    problem, spans = _unpack_arguments((q, k, v, *bounds, slopes, max_q, max_k, scale, left, right, softcap, top))
    if force_reference or choose("attention", q, k, v, kernel=KERNEL, reference=REFERENCE) == "reference":
        return reference.forward(problem)
    from rocm3d_kernels.attention import launch  # noqa: PLC0415

    out, lse = launch.forward(problem, spans)
    # The fake kernel promises contiguous outputs; the Triton kernel pads rows of odd sizes.
    return out.contiguous(), lse


def _run_fake(
    q: torch.Tensor,
    k: torch.Tensor,  # noqa: ARG001
    v: torch.Tensor,
    *_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    lse_dtype = torch.float64 if q.dtype == torch.float64 else torch.float32
    return q.new_empty(q.shape[0], q.shape[1], v.shape[2]), q.new_empty(q.shape[1], q.shape[0], dtype=lse_dtype)


def _run_backward(
    do: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    q_starts: torch.Tensor,
    q_ends: torch.Tensor,
    k_starts: torch.Tensor,
    k_ends: torch.Tensor,
    slopes: Optional[torch.Tensor],  # noqa: UP045
    max_q: int,
    max_k: int,
    scale: float,
    left: int,
    right: int,
    softcap: float,
    top: bool,
    force_reference: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """dq, dk, dv."""
    bounds = (q_starts, q_ends, k_starts, k_ends)
    problem, spans = _unpack_arguments((q, k, v, *bounds, slopes, max_q, max_k, scale, left, right, softcap, top))
    if force_reference or choose("attention", q, k, v, kernel=KERNEL, reference=REFERENCE) == "reference":
        return reference.backward(problem, out, lse, do)
    from rocm3d_kernels.attention import launch  # noqa: PLC0415

    dq, dk, dv = launch.backward(problem, spans, out, lse, do)
    return dq.contiguous(), dk.contiguous(), dv.contiguous()


def _run_backward_fake(
    do: torch.Tensor,  # noqa: ARG001
    out: torch.Tensor,  # noqa: ARG001
    lse: torch.Tensor,  # noqa: ARG001
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *_: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)


def _save_for_backward(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(*inputs[:8], *output)
    ctx.settings = inputs[8:]


def _backward(ctx, do, _):  # type: ignore[no-untyped-def]
    *inputs, out, lse = ctx.saved_tensors
    gradients = (None, None, None) if do is None else _attention_backward(do, out, lse, *inputs, *ctx.settings)
    return *gradients, *[None] * (5 + len(ctx.settings))


_attention_backward = operation(_run_backward, _run_backward_fake, name="attention_backward")
_attention = operation(_run, _run_fake, name="attention", keep=_save_for_backward, backward=_backward)
