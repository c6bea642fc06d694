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

    from rocm3d.model.compilation import KernelFacts

# Namespaces of libraries: their kernels differ between CUDA and ROCm.
_LIBRARIES = frozenset({"cub", "hipcub", "thrust", "rocprim", "rocm3d_declared", "at", "c10", "at_cuda_detail"})
_INTERNAL = re.compile(r"^(_GLOBAL__N_|_INTERNAL_|__nv_static_)")
_SUFFIX = re.compile(r"(__static__|__intern__|\.).*$")


@dataclass(frozen=True)
class Difference:
    """Kernel names. `vanished`: only in the CUDA build. `appeared`: only in HIP. `emptied`: empty only in HIP."""

    vanished: tuple[str, ...]
    appeared: tuple[str, ...]
    emptied: tuple[str, ...]
    common: int

    def __bool__(self) -> bool:
        return bool(self.vanished or self.appeared or self.emptied)


def compare(cuda: Iterable[KernelFacts], hip: Iterable[KernelFacts]) -> Difference:
    """Compares by name and number of instantiations."""
    there, here = _by_name(cuda), _by_name(hip)
    counts, others = Counter({k: len(v) for k, v in there.items()}), Counter({k: len(v) for k, v in here.items()})
    emptied = [
        name
        for name, kernels in here.items()
        if name in there and sum(k.empty for k in kernels) > sum(k.empty for k in there[name])
    ]
    return Difference(
        vanished=tuple(sorted((counts - others).keys())),
        appeared=tuple(sorted((others - counts).keys())),
        emptied=tuple(sorted(emptied)),
        common=sum((counts & others).values()),
    )


def plain_name(symbol: str) -> tuple[str, ...]:
    """The parts of a qualified name: `_ZN3cub4scanIfEEvPT_` is ("cub", "scan"). An unmangled name is one part."""
    if not symbol.startswith("_Z"):
        return (_SUFFIX.sub("", symbol),)
    at = 2
    nested = symbol.startswith("N", at)
    at += nested
    parts: list[str] = []
    while at < len(symbol):
        if symbol[at] in "LrVK" and not parts:
            at += 1
            continue
        match = re.compile(r"L?(\d+)").match(symbol, at)
        if match is None:
            break
        start = match.end()
        parts.append(symbol[start : start + int(match.group(1))])
        at = start + int(match.group(1))
        if not nested:
            break
    return tuple(part for part in parts if not _INTERNAL.match(part)) or (symbol,)


def _by_name(kernels: Iterable[KernelFacts]) -> dict[str, list[KernelFacts]]:
    found: dict[str, list[KernelFacts]] = {}
    for kernel in kernels:
        parts = plain_name(kernel.name)
        if parts[0] not in _LIBRARIES:
            found.setdefault("::".join(parts), []).append(kernel)
    return found
