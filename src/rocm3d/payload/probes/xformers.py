"""xformers: memory-efficient attention against the reference, and the operators that it reports as available."""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Tensors are [batch, length, heads, channels] in half precision."""
    from xformers.info import get_features_status
    from xformers.ops import memory_efficient_attention

    status = get_features_status()
    session.facts["operators"] = sorted(name for name, state in status.items() if state == "available")
    tensors = [session.random_normal(2, 128, 4, 64, seed=seed).to(session.half_dtype()) for seed in (1, 2, 3)]
    expected = session.reference_attention(*(tensor.transpose(1, 2) for tensor in tensors)).transpose(1, 2)
    tolerance = "float32-attention" if session.half_dtype() == session.torch.float32 else "float16-attention"
    session.check_close(
        "memory_efficient_attention", session.run(lambda: memory_efficient_attention(*tensors)), expected, tolerance
    )
