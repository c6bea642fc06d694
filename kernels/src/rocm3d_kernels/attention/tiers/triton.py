"""Our Triton kernels: on a GPU, for float16, bfloat16 and float32."""

from __future__ import annotations

import torch

from rocm3d_kernels.attention.operator import KERNEL, packed_attention
from rocm3d_kernels.attention.problem import AttentionProblem
from rocm3d_kernels.dispatch import GPU, is_interpreted

NEEDS_TRIAL = False
MAX_HEAD_SIZE = {"float16": 256, "bfloat16": 256, "float32": 128}


def unsupported_reason(problem: AttentionProblem) -> str:
    """The features that the kernels lack for this problem; empty if none."""
    name = str(problem.q.dtype).removeprefix("torch.")
    if problem.q.device.type not in GPU and not is_interpreted():
        return f"tensors on {problem.q.device.type}, where Triton does not run"
    if name not in KERNEL or (name == "bfloat16" and problem.q.device.type not in GPU):
        return f"dtype {name}"  # bfloat16 products are wrong in the interpreter of Triton 3.9
    size = max(problem.q.shape[-1], problem.v.shape[-1])
    if size > MAX_HEAD_SIZE[name]:
        return f"head size {size}; the limit for {name} is {MAX_HEAD_SIZE[name]}"
    return " and ".join(one for one in problem.features() if one in ("a bias tensor", "dropout"))


def run(problem: AttentionProblem) -> torch.Tensor:
    """The output in the shape of q."""
    return packed_attention(problem.packed()).reshape(*problem.q.shape[:-1], problem.v.shape[-1])
