"""Compiles the CUDA side of the ported tree with nvcc: what compiled for NVIDIA users must still compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.model.verdict import CompileResult, Verdict
from rocm3d.verify.compilation.shared_results import NO_EXTENSION, compile_with_nvcc, find_case_kit
from rocm3d.verify.probe import Case, Probe
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.verify.compilation.cuda_session import CudaUnitResult


def attempt(case: Case) -> tuple[Verdict, ...]:
    """One verdict for each unit. A unit that does not compile in the original either is not_run, not failed."""
    kit = find_case_kit(case)
    results = compile_with_nvcc(case, kit)
    original_sides: dict[str, CompileResult] = {}
    if any(item.side.outcome == "failed" for item in results) and case.originals:
        original = Tree.open(case.tree.root, overlay=case.originals)
        original_sides = {item.unit.source: item.side for item in compile_with_nvcc(case, kit, original)}
    verdicts = tuple(_unit_verdict(item, original_sides.get(item.unit.source)) for item in results)
    return verdicts or (probe.verdict("skipped", NO_EXTENSION),)


def _unit_verdict(result: CudaUnitResult, original_side: CompileResult | None) -> Verdict:
    source, side = result.unit.source, result.side
    name = f"{source} ({result.unit.extension})"
    if side.outcome == "lacks":
        return probe.verdict("not_run", f"header {side.lacks} not found on this machine", subject=name)
    if side.outcome == "timed_out":
        return probe.verdict("not_run", f"nvcc was stopped: {side.stopped or 'the time limit'}", subject=name)
    if side.outcome == "failed":
        first = side.errors[0] if side.errors else None
        error_text = f"{first.path}:{first.line}: {first.message}" if first else "nvcc failed"
        if original_side is not None and original_side.outcome == "failed":
            return probe.verdict("not_run", f"the original does not compile either: {error_text}", subject=name)
        return probe.verdict("failed", error_text, ["nvcc: failed"], subject=name)
    kernels = f", {counted(len(side.kernels), 'kernel')}" if result.unit.language == "hip" else ""
    declared_headers = sorted({*side.own_headers})
    declared = [f"headers declared by rocm3d: {', '.join(declared_headers)}"] if declared_headers else []
    return probe.verdict("passed", "", [f"nvcc: compiled{kernels}", *declared], subject=name)


probe = Probe(__name__, "nvidia", attempt)
