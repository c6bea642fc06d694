"""The interface that AITER and flash-attn share, and its limits."""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from rocm3d_kernels.attention.problem import AttentionProblem
from rocm3d_kernels.backoff import ExponentialBackoff
from rocm3d_kernels.dispatch import GPU
from rocm3d_kernels.transient import first_line, is_transient

HALVES = (torch.float16, torch.bfloat16)
MAX_HEAD_SIZE = 256


_BACKOFFS: dict[str, ExponentialBackoff] = {}


def import_problem(name: str) -> str:
    """Why the package cannot be used; empty if it can. Our own drop-in of that name does not count.

    Decided once, unless the import failed for a moment: then it is tried again, after ever more calls.
    """
    backoff = _BACKOFFS.get(name)
    if backoff is not None and not backoff.should_try():
        return "import failed for the moment"
    try:
        return _import_problem(name)
    except Exception as error:
        if not is_transient(error):
            raise
        _BACKOFFS.setdefault(name, ExponentialBackoff()).fail()
        return f"import failed for the moment: {first_line(error)}"


@functools.cache
def _import_problem(name: str) -> str:
    try:
        if name not in sys.modules and find_spec(name) is None:
            return "not installed"
        module = import_module(name)
    except Exception as error:
        if is_transient(error):
            raise
        return f"import failed: {first_line(error)}"
    if "__rocm3d__" in vars(module):
        return "not installed, replaced by rocm3d-kernels"
    return ""


def unsupported_reason(name: str, problem: AttentionProblem, unsupported: Collection[str]) -> str:
    """The first reason against this package; empty if none. The last argument: features that the package lacks."""
    if torch.compiler.is_compiling():
        return "not supported under torch.compile"
    if problem.q.device.type not in GPU:
        return f"tensors on {problem.q.device.type}"
    return import_problem(name) or _unsupported_inputs(problem, unsupported)


def _unsupported_inputs(problem: AttentionProblem, unsupported: Collection[str]) -> str:
    if problem.q.dtype not in HALVES:
        return f"dtype {problem.q.dtype}"
    if problem.q.shape[-1] != problem.v.shape[-1] or problem.q.shape[-1] > MAX_HEAD_SIZE:
        return f"head sizes {problem.q.shape[-1]} and {problem.v.shape[-1]}"
    if problem.top:
        return "a mask aligned to the top left corner"
    return " and ".join(one for one in problem.features() if one in unsupported)


def call(name: str, problem: AttentionProblem, **extra: Any) -> torch.Tensor:
    """Calls flash_attn_func or flash_attn_varlen_func of a package."""
    module = import_module(name)
    settings = {
        "dropout_p": problem.dropout, "softmax_scale": problem.scale, "causal": problem.causal,
        "window_size": (problem.left, problem.right) if not problem.causal else (-1, -1),
        "deterministic": problem.deterministic, **extra,
    }  # fmt: skip
    if problem.slopes is not None:
        settings["alibi_slopes"] = problem.slopes
    tensors = (problem.q, problem.k, problem.v)
    spans = problem.spans
    if spans is None or spans.cumulative is None:
        output = module.flash_attn_func(*tensors, **settings)
    else:
        lengths = (*spans.cumulative, spans.max_q, spans.max_k)
        output = module.flash_attn_varlen_func(*tensors, *lengths, **settings)
    result: torch.Tensor = output[0] if isinstance(output, (tuple, list)) else output
    return result
