"""Our own kernels: on a GPU, for halves and floats."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.operator import KERNEL, packed_attention
from rocm3d_kernels.attention.problem import Problem
from rocm3d_kernels.dispatch import GPU, interpreted

TRIED_FIRST = False
WIDEST = {"float16": 256, "bfloat16": 256, "float32": 128}


def refuses(problem: Problem) -> str:
    """What it cannot do; empty for nothing."""
    name = str(problem.q.dtype).removeprefix("torch.")
    if problem.q.device.type not in GPU and not interpreted():
        return f"tensors on {problem.q.device.type}, where Triton does not run"
    if name not in KERNEL or (name == "bfloat16" and problem.q.device.type not in GPU):
        return f"dtype {name}"  # the interpreter's products of bfloat16 are wrong, Triton 3.9
    size = max(problem.q.shape[-1], problem.v.shape[-1])
    if size > WIDEST[name]:
        return f"heads of {size} elements, {WIDEST[name]} are the most for {name}"
    return " and ".join(one for one in problem.wants() if one in ("a bias tensor", "dropout"))


def run(problem: Problem) -> torch.Tensor:
    """The result, in the shape of q."""
    return packed_attention(problem.packed()).reshape(*problem.q.shape[:-1], problem.v.shape[-1])
