"""Checks that the AMD build has every kernel of the CUDA build, and that none became empty.

Names are compared without argument types, because vector types differ between CUDA and HIP.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.verdict import KernelFacts, Verdict
from rocm3d.verify.compilation.shared_results import (
    NO_EXTENSION,
    compile_with_hip,
    compile_with_nvcc,
    find_case_kit,
)
from rocm3d.verify.probe import Case, Probe, UncheckedError

if TYPE_CHECKING:
    from rocm3d.verify.compilation.cuda_session import CudaUnitResult
    from rocm3d.verify.compilation.session import UnitReport

# Namespaces of libraries: their kernels differ between CUDA and ROCm.
_LIBRARIES = frozenset({"cub", "hipcub", "thrust", "rocprim", "rocm3d_declared", "at", "c10", "at_cuda_detail"})
_INTERNAL = re.compile(r"^(_GLOBAL__N_|_INTERNAL_|__nv_static_)")
_SUFFIX = re.compile(r"(__static__|__intern__|\.).*$")


def attempt(case: Case) -> tuple[Verdict, ...]:
    """One verdict for each device source. not_run unless both compilers accept it."""
    kit = find_case_kit(case)
    try:
        cuda_results = compile_with_nvcc(case, kit, device_only=True)
    except UncheckedError as error:
        raise UncheckedError(f"no CUDA build to compare with: {error}") from error
    hip_results = [item for item in compile_with_hip(case, kit).units if item.unit.language == "hip"]
    verdicts = tuple(_unit_verdict(item, cuda_results) for item in hip_results)
    return verdicts or (probe.verdict("skipped", NO_EXTENSION),)


def _unit_verdict(hip_result: UnitReport, cuda_results: tuple[CudaUnitResult, ...]) -> Verdict:
    source = hip_result.unit.source
    name = f"{source} ({hip_result.unit.extension})"
    cuda_side = next(
        (
            unit.side
            for unit in cuda_results
            if unit.unit.source == source and unit.unit.extension == hip_result.unit.extension
        ),
        None,
    )
    from rocm3d.verify.compilation.compile_side import HOST

    sides = [side for side in hip_result.sides.values() if side.side != HOST]
    if any(side.outcome != "compiled" for side in sides):
        return probe.verdict("not_run", "does not compile for every target", subject=name)
    if cuda_side is None or cuda_side.outcome != "compiled":
        why = "is not part of the CUDA build" if cuda_side is None else f"nvcc: {cuda_side.lacks or cuda_side.outcome}"
        return probe.verdict("not_run", why, subject=name)
    differences = [
        text
        for side in sides
        for text in _describe_difference(side.side, compare_kernels(cuda_side.kernels, side.kernels))
    ]
    if differences:
        return probe.verdict("failed", "; ".join(differences), [source], subject=name)
    common = compare_kernels(cuda_side.kernels, sides[0].kernels).common if sides else 0
    return probe.verdict("passed", "", [f"kernels in both builds: {common}, none became empty"], subject=name)


def _describe_difference(side: str, difference: KernelDifference) -> Iterator[str]:
    for names, description in (
        (difference.vanished, "missing, or fewer instantiations than in the CUDA build"),
        (difference.appeared, "not in the CUDA build, or more instantiations"),
        (difference.emptied, "empty, but not empty in the CUDA build"),
    ):
        if names:
            yield f"{side}: {', '.join(names)}: {description}"


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


probe = Probe(__name__, "compile", attempt)
