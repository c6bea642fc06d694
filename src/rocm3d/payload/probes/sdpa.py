"""torch's scaled_dot_product_attention: which SDPA backends work, and which kernels the default uses."""

from __future__ import annotations

import warnings
from typing import Any

KINDS = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH")


def check(session: Any) -> None:
    """Checks each backend alone, then the default, against the reference."""
    torch = session.torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    tensors = [session.random_normal(2, 4, 128, 64, seed=seed).to(session.half_dtype()) for seed in (1, 2, 3)]
    expected = session.reference_attention(*tensors)
    tolerance = "float32-attention" if session.half_dtype() == torch.float32 else "float16-attention"
    kinds: dict[str, Any] = {}
    for name in [name for name in KINDS if hasattr(SDPBackend, name)]:
        with sdpa_kernel([getattr(SDPBackend, name)]):
            kinds[name.lower()] = _try_backend(session, tensors, expected, tolerance, name.lower())
    sdpa = torch.nn.functional.scaled_dot_product_attention
    session.check_close("default", session.run(lambda: sdpa(*tensors)), expected, tolerance)
    session.facts["kinds"] = kinds
    session.evidence = "kernels"
    if not any(kind["works"] for name, kind in kinds.items() if name != "math"):
        session.fall_back("only the math backend works")


def _try_backend(session: Any, tensors: list[Any], expected: Any, tolerance: str, name: str) -> dict[str, Any]:
    """torch explains in warnings why a backend is not available, then raises an error."""
    sdpa = session.torch.nn.functional.scaled_dot_product_attention
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            sdpa(*tensors)
            result, kernels = session.run_profiled(lambda: sdpa(*tensors))
        except RuntimeError as error:
            reasons = [str(warning.message).splitlines()[0] for warning in caught] or [str(error).splitlines()[0]]
            return {"works": False, "reason": reasons[0] if len(reasons) == 1 else "; ".join(reasons[:3])}
    session.check_close(name, result, expected, tolerance)
    return {"works": True, "kernels": None if kernels is None else sorted(kernels)}
