"""PyTorch: scaled_dot_product_attention for dense tensors, torch.nn.attention.varlen for packed tensors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch

from rocm3d_kernels.attention.problem import AttentionProblem
from rocm3d_kernels.dispatch import GPU

NEEDS_TRIAL = True
HALVES = (torch.float16, torch.bfloat16)
MAX_HEAD_SIZE, HEAD_SIZE_MULTIPLE = 256, 8


@functools.cache
def varlen() -> tuple[Callable[..., torch.Tensor] | None, frozenset[str]]:
    """PyTorch's function for packed tensors (None if absent) and its parameter names, which differ between releases."""
    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: PLC0415  (not in every build)
    except ImportError:
        return None, frozenset()
    return varlen_attn, frozenset(inspect.signature(varlen_attn).parameters)


def unsupported_reason(problem: AttentionProblem) -> str:
    """The features that PyTorch lacks for this problem; empty if none."""
    if problem.deterministic and problem.needs_grad and problem.bias is None and not problem.dropout:
        return "deterministic gradients"
    return _unsupported_dense(problem) if problem.spans is None else _unsupported_packed(problem)


def _unsupported_packed(problem: AttentionProblem) -> str:
    if torch.compiler.is_compiling():
        return "packed sequences under torch.compile"
    function, names = varlen()
    if function is None or problem.q.device.type not in GPU:
        return f"packed sequences on {problem.q.device.type}"
    size = problem.q.shape[-1]
    if (
        problem.q.dtype not in HALVES
        or problem.v.shape[-1] != size
        or size > MAX_HEAD_SIZE
        or size % HEAD_SIZE_MULTIPLE
    ):
        return f"packed sequences with head sizes {size} and {problem.v.shape[-1]}, {problem.q.dtype}"
    if problem.top or (problem.group > 1 and "enable_gqa" not in names) or "scale" not in names:
        return "packed sequences with these options in this PyTorch release"
    unsupported = problem.features()
    if "window_size" in names and "a window" in unsupported:
        unsupported.remove("a window")
    return " and ".join(unsupported)


def _unsupported_dense(problem: AttentionProblem) -> str:
    if problem.q.numel() == 0 or problem.k.numel() == 0:
        return "empty tensors"
    features = problem.features()
    unsupported = [one for one in features if one in ("softcap", "alibi_slopes")]
    masked = problem.bias is not None or problem.dropout > 0
    if not masked and "a window" in features:
        unsupported.append("a window")
    if not masked and not _is_causal_flag_enough(problem) and problem.right >= 0 and "a window" not in features:
        unsupported.append("a causal mask with this alignment")
    return " and ".join(unsupported)


def _is_causal_flag_enough(problem: AttentionProblem) -> bool:
    """PyTorch's is_causal aligns the mask to the top left corner."""
    return problem.causal and (problem.top or problem.q.shape[1] == problem.k.shape[1])


def run(problem: AttentionProblem) -> torch.Tensor:
    """The output in the shape of q."""
    if problem.spans is not None:
        return _run_packed(problem)
    q, k, v = (one.transpose(1, 2) for one in (problem.q, problem.k, problem.v))
    flag = _is_causal_flag_enough(problem) and problem.bias is None
    mask = problem.bias if flag else _mask(problem)
    output = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, mask, problem.dropout, flag, scale=problem.scale, enable_gqa=problem.group > 1
    )
    return output.transpose(1, 2)


def _mask(problem: AttentionProblem) -> torch.Tensor | None:
    """The bias with minus infinity outside the window."""
    if problem.left < 0 and problem.right < 0:
        return problem.bias
    queries, keys = problem.q.shape[1], problem.k.shape[1]
    position = torch.arange(queries, device=problem.q.device)[:, None] + (0 if problem.top else keys - queries)
    key = torch.arange(keys, device=problem.q.device)
    visible = torch.ones(queries, keys, dtype=torch.bool, device=problem.q.device)
    if problem.left >= 0:
        visible &= key >= position - problem.left
    if problem.right >= 0:
        visible &= key <= position + problem.right
    if problem.bias is None:
        return visible
    if problem.bias.dtype == torch.bool:
        return problem.bias & visible
    return problem.bias.masked_fill(~visible, -torch.inf)


def _run_packed(problem: AttentionProblem) -> torch.Tensor:
    function, names = varlen()
    spans = problem.spans
    if function is None or spans is None or spans.cumulative is None:
        raise ValueError("attention: packed tensors without cumulative lengths")
    settings: dict[str, Any] = {"scale": problem.scale}
    if problem.group > 1:
        settings["enable_gqa"] = True
    if "window_size" in names:
        settings["window_size"] = (problem.left, problem.right)
    elif problem.causal:
        settings["is_causal"] = True
    return function(problem.q, problem.k, problem.v, *spans.cumulative, spans.max_q, spans.max_k, **settings)
