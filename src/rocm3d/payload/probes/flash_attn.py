"""FlashAttention 2: forward and backward against the reference. Its backend is a library, or Triton kernels."""

from __future__ import annotations

import sys
from typing import Any

NATIVE = ("flash_attn_2_cuda",)


def look(bench: Any) -> None:
    """[batch, length, heads, channels] in half precision."""
    from flash_attn import flash_attn_func, flash_attn_interface

    torch = bench.torch
    backend = getattr(flash_attn_interface, "flash_attn_gpu", None) or sys.modules.get(NATIVE[0])
    bench.facts["backend_module"] = str(getattr(backend, "__file__", None) or getattr(backend, "__name__", ""))
    tensors = [bench.random(2, 128, 4, 64, seed=seed).to(bench.half()).requires_grad_() for seed in (1, 2, 3)]
    exact = [tensor.detach().double().cpu().transpose(1, 2).requires_grad_() for tensor in tensors]
    wanted = torch.softmax(exact[0] @ exact[1].transpose(-1, -2) / 8, -1) @ exact[2]
    name = "float32-attention" if bench.half() == torch.float32 else "float16-attention"
    result = bench.run(lambda: flash_attn_func(*tensors))
    bench.agree("forward", result, wanted.transpose(1, 2), name)
    gradients = bench.run(lambda: torch.autograd.grad(flash_attn_func(*tensors).sum(), tensors))
    for letter, got, right in zip("qkv", gradients, torch.autograd.grad(wanted.sum(), exact), strict=True):
        bench.agree(f"gradient of {letter}", got, right.transpose(1, 2), "float16-attention-gradient")
