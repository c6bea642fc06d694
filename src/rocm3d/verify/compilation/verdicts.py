"""Verdicts of levels compile and nvidia: one for each build script and each unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Outcome, Verdict
from rocm3d.verify.compilation.compile_side import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.model.compilation import CompileResult
    from rocm3d.verify.compilation.classify import Problem
    from rocm3d.verify.compilation.extensions import Found
    from rocm3d.verify.compilation.kit import Kit
    from rocm3d.verify.compilation.session import Report, UnitReport

_SHOWN = 8  # errors of one unit
_HEADERS = 6


def verdict(
    probe: str, outcome: Outcome, reason: str = "", looked_at: Iterable[str] = (), level: Level = "compile"
) -> Verdict:
    """A verdict of level compile, or of `level`."""
    return Verdict(level=level, probe=probe, outcome=outcome, reason=reason, looked_at=tuple(looked_at))


def of_report(probe: str, report: Report, kit: Kit) -> Iterator[Verdict]:
    """Scripts first, then units."""
    for found in report.found:
        yield _of_script(probe, found, report, kit)
    for name in report.missing:
        yield verdict(probe, "not_run", f"{name}: source is missing: a submodule that is not checked out?")
    for name, why in report.untranslated.items():
        yield verdict(probe, "not_run", f"{name}: hipify failed: {why}")
    for item in report.units:
        yield of_unit(probe, item, kit)


def _of_script(probe: str, found: Found, report: Report, kit: Kit) -> Verdict:
    wrong = [problem for problem in report.flags if problem.path == found.script]
    wrong = [*([found.problem] if found.problem else []), *wrong]
    sources = sum(len(item.sources) for item in found.extensions)
    looked = [f"{found.script}: extensions: {len(found.extensions)}, sources: {sources}", kit.label]
    looked += [f"hipify {report.hipify}"] if report.hipify else []
    if wrong:
        return verdict(probe, "failed", told(wrong), looked)
    if not found.extensions:
        return verdict(probe, "skipped", found.note or f"{found.script}: no extension with device code")
    return verdict(probe, "passed", "", [*looked, *([found.note] if found.note else [])])


def of_unit(probe: str, item: UnitReport, kit: Kit) -> Verdict:
    """Failed if any side failed; not_run if a library's header was missing or the compiler timed out."""
    looked = [*(shown(side) for side in item.sides.values()), headers(item.sides.values(), kit)]
    outcomes = {side.outcome for side in item.sides.values()}
    name = f"{item.unit.source} ({item.unit.extension})"
    if "failed" in outcomes:
        sides = ", ".join(side.side for side in item.sides.values() if side.outcome == "failed")
        return verdict(probe, "failed", f"{name}, {sides}: {told(item.problems)}", looked)
    if "lacks" in outcomes:
        away = sorted({side.lacks for side in item.sides.values() if side.lacks})
        return verdict(probe, "not_run", f"{name}: header {', '.join(away)} not found on this machine")
    if "timed_out" in outcomes:
        return verdict(probe, "not_run", f"{name}: the compiler was stopped at the time limit")
    return verdict(probe, "passed", "", [name, *looked])


def shown(side: CompileResult) -> str:
    """One side of a unit as one line; for a target with the resources that its kernels use."""
    if side.outcome != "compiled" or side.side == HOST:
        return f"{side.side}: {side.outcome}"
    if not side.kernels:
        return f"{side.side}: compiled, no kernels"
    waves = "/".join(str(width) for width in sorted({kernel.wave_size for kernel in side.kernels}))
    vgprs, lds = max(kernel.vgprs for kernel in side.kernels), max(kernel.lds_bytes for kernel in side.kernels)
    sgprs, spilling = max(kernel.sgprs for kernel in side.kernels), [k for k in side.kernels if k.spills]
    empty = sum(kernel.empty for kernel in side.kernels)
    words = [
        f"{len(side.kernels)} kernel{'' if len(side.kernels) == 1 else 's'}",
        f"wave {waves}",
        f"at most {vgprs} VGPRs, {sgprs} SGPRs, {lds} bytes of LDS",
    ]
    words += [f"{len(spilling)} with register spills"] if spilling else ["no spills"]
    return f"{side.side}: {', '.join(words)}" + (f", {empty} empty" if empty else "")


def headers(sides: Iterable[CompileResult], kit: Kit) -> str:
    """The headers a unit was compiled with: HIP, --hip-headers, and those that rocm3d declares."""
    given = any(side.given_headers for side in sides)
    ours = sorted({name.partition("/")[0] for side in sides for name in side.own_headers} - {"rocm3d_declared"})
    kinds = [f"HIP {kit.compiler.about.hip} ({kit.compiler.about.headers})"]
    kinds += ["ROCm libraries from --hip-headers (real)"] if given else []
    kinds += [f"declared by rocm3d: {', '.join(ours[:_HEADERS])}"] if ours else []
    return f"headers: {'; '.join(kinds)}"


def told(problems: Iterable[Problem]) -> str:
    """The first 8 problems, and how many more there are."""
    found = list(problems)
    more = f" ... and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(str(problem) for problem in found[:_SHOWN]) + more
