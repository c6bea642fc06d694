"""Checks that the AMD build has every kernel of the CUDA build, and that none became empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.compilation.compile_side import HOST
from rocm3d.verify.compilation.kernel_names import Difference, compare
from rocm3d.verify.compilation.verdicts import verdict
from rocm3d.verify.compilation.visit import NO_EXTENSION, amd, kit_of, nvidia
from rocm3d.verify.probe import Case, Probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.verify.compilation.cuda_session import CudaUnit
    from rocm3d.verify.compilation.session import UnitReport


def attempt(case: Case) -> tuple[Verdict, ...]:
    """One verdict for each device source. not_run unless both compilers accept it."""
    kit = kit_of(case)
    if isinstance(kit, str):
        return (verdict(probe.name, "not_run", kit),)
    theirs = nvidia(case, kit, device_alone=True)
    if isinstance(theirs, str):
        return (verdict(probe.name, "not_run", f"no CUDA build to compare with: {theirs}"),)
    ours = [item for item in amd(case, kit).units if item.unit.language == "hip"]
    found = tuple(_of_unit(item, theirs) for item in ours)
    return found or (verdict(probe.name, "skipped", NO_EXTENSION),)


def _of_unit(item: UnitReport, theirs: tuple[CudaUnit, ...]) -> Verdict:
    source = item.unit.source
    other = next(
        (unit.side for unit in theirs if unit.unit.source == source and unit.unit.extension == item.unit.extension),
        None,
    )
    sides = [side for side in item.sides.values() if side.side != HOST]
    if any(side.outcome != "compiled" for side in sides):
        return verdict(probe.name, "not_run", f"{source}: does not compile for every target")
    if other is None or other.outcome != "compiled":
        why = "is not part of the CUDA build" if other is None else f"nvcc: {other.lacks or other.outcome}"
        return verdict(probe.name, "not_run", f"{source}: {why}")
    wrong = [text for side in sides for text in _told(side.side, compare(other.kernels, side.kernels))]
    if wrong:
        return verdict(probe.name, "failed", f"{source}: {'; '.join(wrong)}", [source])
    common = compare(other.kernels, sides[0].kernels).common if sides else 0
    return verdict(probe.name, "passed", "", [f"{source}: kernels in both builds: {common}, none became empty"])


def _told(side: str, found: Difference) -> Iterator[str]:
    for names, what in (
        (found.vanished, "missing, or fewer instantiations than in the CUDA build"),
        (found.appeared, "not in the CUDA build, or more instantiations"),
        (found.emptied, "empty, but not empty in the CUDA build"),
    ):
        if names:
            yield f"{side}: {', '.join(names)}: {what}"


probe = Probe(__name__, "compile", attempt)
