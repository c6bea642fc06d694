"""xformers: its memory-efficient attention against the reference, and what it says of its own operators."""

from __future__ import annotations

from typing import Any


def look(bench: Any) -> None:
    """[batch, length, heads, channels] in half precision."""
    from xformers.info import get_features_status
    from xformers.ops import memory_efficient_attention

    status = get_features_status()
    bench.facts["operators"] = sorted(name for name, state in status.items() if state == "available")
    tensors = [bench.random(2, 128, 4, 64, seed=seed).to(bench.half()) for seed in (1, 2, 3)]
    wanted = bench.attention(*(tensor.transpose(1, 2) for tensor in tensors)).transpose(1, 2)
    tolerance = "float32-attention" if bench.half() == bench.torch.float32 else "float16-attention"
    bench.agree(
        "memory_efficient_attention", bench.run(lambda: memory_efficient_attention(*tensors)), wanted, tolerance
    )
