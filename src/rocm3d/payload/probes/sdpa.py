"""torch's attention: which of its kinds work here, and which kernels it takes when nobody chooses."""

from __future__ import annotations

import warnings
from typing import Any

KINDS = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH")


def look(bench: Any) -> None:
    """Each kind alone, then the default; all against the reference."""
    torch = bench.torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    tensors = [bench.random(2, 4, 128, 64, seed=seed).to(bench.half()) for seed in (1, 2, 3)]
    wanted = bench.attention(*tensors)
    tolerance = "float32-attention" if bench.half() == torch.float32 else "float16-attention"
    kinds: dict[str, Any] = {}
    for name in [name for name in KINDS if hasattr(SDPBackend, name)]:
        with sdpa_kernel([getattr(SDPBackend, name)]):
            kinds[name.lower()] = _tried(bench, tensors, wanted, tolerance, name.lower())
    attend = torch.nn.functional.scaled_dot_product_attention
    bench.agree("default", bench.run(lambda: attend(*tensors)), wanted, tolerance)
    bench.facts["kinds"] = kinds
    bench.evidence = "kernels"
    if not any(kind["works"] for name, kind in kinds.items() if name != "math"):
        bench.fall_back("only the math kind works here")


def _tried(bench: Any, tensors: list[Any], wanted: Any, tolerance: str, name: str) -> dict[str, Any]:
    """torch says in warnings why a kind cannot be had, and raises."""
    attend = bench.torch.nn.functional.scaled_dot_product_attention
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            attend(*tensors)
            result, kernels = bench.profiled(lambda: attend(*tensors))
        except RuntimeError as error:
            reasons = [str(item.message).splitlines()[0] for item in said] or [str(error).splitlines()[0]]
            return {"works": False, "reason": reasons[0] if len(reasons) == 1 else "; ".join(reasons[:3])}
    bench.agree(name, result, wanted, tolerance)
    return {"works": True, "kernels": None if kernels is None else sorted(kernels)}
