"""Compiles the CUDA side of the ported tree with nvcc: what compiled for NVIDIA users must still compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.compilation.verdicts import verdict
from rocm3d.verify.compilation.visit import NO_EXTENSION, kit_of, nvidia
from rocm3d.verify.probe import Case, Probe
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.model.compilation import CompileResult
    from rocm3d.verify.compilation.cuda_session import CudaUnit


def attempt(case: Case) -> tuple[Verdict, ...]:
    """One verdict for each unit. A unit that does not compile in the original either is not_run, not failed."""
    kit = kit_of(case)
    if isinstance(kit, str):
        return (verdict(probe.name, "not_run", kit, level="nvidia"),)
    found = nvidia(case, kit)
    if isinstance(found, str):
        return (verdict(probe.name, "not_run", found, level="nvidia"),)
    before: dict[str, CompileResult] = {}
    if any(item.side.outcome == "failed" for item in found) and case.originals:
        original = Tree.open(case.tree.root, overlay=case.originals)
        others = nvidia(case, kit, original)
        before = {} if isinstance(others, str) else {item.unit.source: item.side for item in others}
    verdicts = tuple(_of_unit(item, before.get(item.unit.source)) for item in found)
    return verdicts or (verdict(probe.name, "skipped", NO_EXTENSION, level="nvidia"),)


def _of_unit(item: CudaUnit, before: CompileResult | None) -> Verdict:
    source, side = item.unit.source, item.side
    name = f"{source} ({item.unit.extension})"
    if side.outcome == "lacks":
        return verdict(probe.name, "not_run", f"{name}: header {side.lacks} not found on this machine", level="nvidia")
    if side.outcome == "timed_out":
        return verdict(probe.name, "not_run", f"{name}: nvcc was stopped at the time limit", level="nvidia")
    if side.outcome == "failed":
        first = side.errors[0] if side.errors else None
        told = f"{first.path}:{first.line}: {first.message}" if first else "nvcc failed"
        if before is not None and before.outcome == "failed":
            return verdict(
                probe.name, "not_run", f"{name}: the original does not compile either: {told}", level="nvidia"
            )
        return verdict(probe.name, "failed", f"{name}: {told}", [name], level="nvidia")
    kernels = (
        f", {len(side.kernels)} kernel{'' if len(side.kernels) == 1 else 's'}" if item.unit.language == "hip" else ""
    )
    ours = sorted({*side.own_headers})
    declared = [f"headers declared by rocm3d: {', '.join(ours)}"] if ours else []
    return verdict(probe.name, "passed", "", [f"{name}{kernels}", *declared], level="nvidia")


probe = Probe(__name__, "nvidia", attempt)
