"""Compares the kernels of a CUDA and a HIP build: is each one present, and did none become empty?

Names are compared without argument types, because vector types differ between CUDA and HIP.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.model.verdict import KernelFacts

# Namespaces of libraries: their kernels differ between CUDA and ROCm.
_LIBRARIES = frozenset({"cub", "hipcub", "thrust", "rocprim", "rocm3d_declared", "at", "c10", "at_cuda_detail"})
_INTERNAL = re.compile(r"^(_GLOBAL__N_|_INTERNAL_|__nv_static_)")
_SUFFIX = re.compile(r"(__static__|__intern__|\.).*$")


@dataclass(frozen=True)
class KernelDifference:
    """Kernel names. `vanished`: only in the CUDA build. `appeared`: only in HIP. `emptied`: empty only in HIP."""

    vanished: tuple[str, ...]
    appeared: tuple[str, ...]
    emptied: tuple[str, ...]
    common: int

    def __bool__(self) -> bool:
        return bool(self.vanished or self.appeared or self.emptied)


def compare_kernels(cuda: Iterable[KernelFacts], hip: Iterable[KernelFacts]) -> KernelDifference:
    """Compares by name and number of instantiations."""
    cuda_kernels, hip_kernels = _by_name(cuda), _by_name(hip)
    cuda_counts, hip_counts = (
        Counter({k: len(v) for k, v in cuda_kernels.items()}),
        Counter({k: len(v) for k, v in hip_kernels.items()}),
    )
    emptied = [
        name
        for name, kernels in hip_kernels.items()
        if name in cuda_kernels and sum(k.empty for k in kernels) > sum(k.empty for k in cuda_kernels[name])
    ]
    return KernelDifference(
        vanished=tuple(sorted((cuda_counts - hip_counts).keys())),
        appeared=tuple(sorted((hip_counts - cuda_counts).keys())),
        emptied=tuple(sorted(emptied)),
        common=sum((cuda_counts & hip_counts).values()),
    )


def plain_name(symbol: str) -> tuple[str, ...]:
    """The parts of a qualified name: `_ZN3cub4scanIfEEvPT_` is ("cub", "scan"). An unmangled name is one part."""
    if not symbol.startswith("_Z"):
        return (_SUFFIX.sub("", symbol),)
    position = 2
    nested = symbol.startswith("N", position)
    position += nested
    parts: list[str] = []
    while position < len(symbol):
        if symbol[position] in "LrVK" and not parts:
            position += 1
            continue
        match = re.compile(r"L?(\d+)").match(symbol, position)
        if match is None:
            break
        start = match.end()
        parts.append(symbol[start : start + int(match.group(1))])
        position = start + int(match.group(1))
        if not nested:
            break
    return tuple(part for part in parts if not _INTERNAL.match(part)) or (symbol,)


def _by_name(kernels: Iterable[KernelFacts]) -> dict[str, list[KernelFacts]]:
    by_name: dict[str, list[KernelFacts]] = {}
    for kernel in kernels:
        parts = plain_name(kernel.name)
        if parts[0] not in _LIBRARIES:
            by_name.setdefault("::".join(parts), []).append(kernel)
    return by_name
