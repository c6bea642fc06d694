"""Checks that the AMD build has every kernel of the CUDA build, and that none became empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.compilation.compile_side import HOST
from rocm3d.verify.compilation.kernel_names import KernelDifference, compare_kernels
from rocm3d.verify.compilation.shared_results import NO_EXTENSION, compile_with_hip, compile_with_nvcc, find_case_kit
from rocm3d.verify.compilation.verdicts import verdict
from rocm3d.verify.probe import Case, Probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.verify.compilation.cuda_session import CudaUnitResult
    from rocm3d.verify.compilation.session import UnitReport


def attempt(case: Case) -> tuple[Verdict, ...]:
    """One verdict for each device source. not_run unless both compilers accept it."""
    kit = find_case_kit(case)
    if isinstance(kit, str):
        return (verdict(probe.name, "not_run", kit),)
    cuda_results = compile_with_nvcc(case, kit, device_only=True)
    if isinstance(cuda_results, str):
        return (verdict(probe.name, "not_run", f"no CUDA build to compare with: {cuda_results}"),)
    hip_results = [item for item in compile_with_hip(case, kit).units if item.unit.language == "hip"]
    verdicts = tuple(_unit_verdict(item, cuda_results) for item in hip_results)
    return verdicts or (verdict(probe.name, "skipped", NO_EXTENSION),)


def _unit_verdict(hip_result: UnitReport, cuda_results: tuple[CudaUnitResult, ...]) -> Verdict:
    source = hip_result.unit.source
    cuda_side = next(
        (
            unit.side
            for unit in cuda_results
            if unit.unit.source == source and unit.unit.extension == hip_result.unit.extension
        ),
        None,
    )
    sides = [side for side in hip_result.sides.values() if side.side != HOST]
    if any(side.outcome != "compiled" for side in sides):
        return verdict(probe.name, "not_run", f"{source}: does not compile for every target")
    if cuda_side is None or cuda_side.outcome != "compiled":
        why = "is not part of the CUDA build" if cuda_side is None else f"nvcc: {cuda_side.lacks or cuda_side.outcome}"
        return verdict(probe.name, "not_run", f"{source}: {why}")
    differences = [
        text
        for side in sides
        for text in _describe_difference(side.side, compare_kernels(cuda_side.kernels, side.kernels))
    ]
    if differences:
        return verdict(probe.name, "failed", f"{source}: {'; '.join(differences)}", [source])
    common = compare_kernels(cuda_side.kernels, sides[0].kernels).common if sides else 0
    return verdict(probe.name, "passed", "", [f"{source}: kernels in both builds: {common}, none became empty"])


def _describe_difference(side: str, difference: KernelDifference) -> Iterator[str]:
    for names, description in (
        (difference.vanished, "missing, or fewer instantiations than in the CUDA build"),
        (difference.appeared, "not in the CUDA build, or more instantiations"),
        (difference.emptied, "empty, but not empty in the CUDA build"),
    ):
        if names:
            yield f"{side}: {', '.join(names)}: {description}"


probe = Probe(__name__, "compile", attempt)
