"""FlashAttention 2: forward and backward against the reference. Its backend is a compiled library or Triton."""

from __future__ import annotations

import sys
from typing import Any

NATIVE = ("flash_attn_2_cuda",)


def check(session: Any) -> None:
    """Tensors are [batch, length, heads, channels] in half precision."""
    from flash_attn import flash_attn_func, flash_attn_interface

    torch = session.torch
    backend = getattr(flash_attn_interface, "flash_attn_gpu", None) or sys.modules.get(NATIVE[0])
    session.facts["backend_module"] = str(getattr(backend, "__file__", None) or getattr(backend, "__name__", ""))
    tensors = [
        session.random_normal(2, 128, 4, 64, seed=seed).to(session.half_dtype()).requires_grad_() for seed in (1, 2, 3)
    ]
    exact = [tensor.detach().double().cpu().transpose(1, 2).requires_grad_() for tensor in tensors]
    expected = torch.softmax(exact[0] @ exact[1].transpose(-1, -2) / 8, -1) @ exact[2]
    name = "float32-attention" if session.half_dtype() == torch.float32 else "float16-attention"
    result = session.run(lambda: flash_attn_func(*tensors))
    session.check_close("forward", result, expected.transpose(1, 2), name)
    gradients = session.run(lambda: torch.autograd.grad(flash_attn_func(*tensors).sum(), tensors))
    for letter, got, right in zip("qkv", gradients, torch.autograd.grad(expected.sum(), exact), strict=True):
        session.check_close(f"gradient of {letter}", got, right.transpose(1, 2), "float16-attention-gradient")
