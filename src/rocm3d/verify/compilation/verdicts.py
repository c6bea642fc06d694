"""Verdicts of levels compile and nvidia: one for each build script and each unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.verify.compilation.compile_side import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.model.verdict import CompileResult, Verdict
    from rocm3d.verify.compilation.classify import CompileProblem
    from rocm3d.verify.compilation.extensions import ScriptExtensions
    from rocm3d.verify.compilation.kit import CompileKit
    from rocm3d.verify.compilation.session import CompileReport, UnitReport
    from rocm3d.verify.probe import Probe

_MAX_PROBLEMS = 8  # errors of one unit
_MAX_HEADERS = 6


def report_verdicts(probe: Probe, report: CompileReport, kit: CompileKit) -> Iterator[Verdict]:
    """Scripts first, then units."""
    for script in report.scripts:
        yield _script_verdict(probe, script, report, kit)
    for name in report.missing:
        yield probe.verdict("not_run", f"{name}: source is missing: a submodule that is not checked out?")
    for name, why in report.untranslated.items():
        yield probe.verdict("not_run", f"{name}: hipify failed: {why}")
    for item in report.units:
        yield unit_verdict(probe, item, kit)


def _script_verdict(probe: Probe, script: ScriptExtensions, report: CompileReport, kit: CompileKit) -> Verdict:
    problems = [problem for problem in report.flags if problem.path == script.script]
    problems = [*([script.problem] if script.problem else []), *problems]
    sources = sum(len(item.sources) for item in script.extensions)
    checked = [f"{script.script}: extensions: {len(script.extensions)}, sources: {sources}", kit.label]
    checked += [f"hipify {report.hipify}"] if report.hipify else []
    if problems:
        return probe.verdict("failed", describe_problems(problems), checked)
    if not script.extensions:
        return probe.verdict("skipped", script.note or f"{script.script}: no extension with device code")
    return probe.verdict("passed", "", [*checked, *([script.note] if script.note else [])])


def unit_verdict(probe: Probe, item: UnitReport, kit: CompileKit) -> Verdict:
    """Failed if any side failed; not_run if a library's header was missing or the compiler timed out."""
    checked = [*(describe_side(side) for side in item.sides.values()), describe_headers(item.sides.values(), kit)]
    outcomes = {side.outcome for side in item.sides.values()}
    name = f"{item.unit.source} ({item.unit.extension})"
    if "failed" in outcomes:
        sides = ", ".join(side.side for side in item.sides.values() if side.outcome == "failed")
        return probe.verdict("failed", f"{name}, {sides}: {describe_problems(item.problems)}", checked)
    if "lacks" in outcomes:
        missing_headers = sorted({side.lacks for side in item.sides.values() if side.lacks})
        return probe.verdict("not_run", f"{name}: header {', '.join(missing_headers)} not found on this machine")
    if "timed_out" in outcomes:
        return probe.verdict("not_run", f"{name}: the compiler was stopped at the time limit")
    return probe.verdict("passed", "", [name, *checked])


def describe_side(side: CompileResult) -> str:
    """One side of a unit as one line; for a target with the resources that its kernels use."""
    if side.outcome != "compiled" or side.side == HOST:
        return f"{side.side}: {side.outcome}"
    if not side.kernels:
        return f"{side.side}: compiled, no kernels"
    waves = "/".join(str(wave_size) for wave_size in sorted({kernel.wave_size for kernel in side.kernels}))
    vgprs, lds = max(kernel.vgprs for kernel in side.kernels), max(kernel.lds_bytes for kernel in side.kernels)
    sgprs, spilling = max(kernel.sgprs for kernel in side.kernels), [k for k in side.kernels if k.spills]
    empty = sum(kernel.empty for kernel in side.kernels)
    words = [
        counted(len(side.kernels), "kernel"),
        f"wave {waves}",
        f"at most {vgprs} VGPRs, {sgprs} SGPRs, {lds} bytes of LDS",
    ]
    words += [f"{len(spilling)} with register spills"] if spilling else ["no spills"]
    return f"{side.side}: {', '.join(words)}" + (f", {empty} empty" if empty else "")


def describe_headers(sides: Iterable[CompileResult], kit: CompileKit) -> str:
    """The headers a unit was compiled with: HIP, --hip-headers, and those that rocm3d declares."""
    uses_hip_headers = any(side.given_headers for side in sides)
    declared = sorted({name.partition("/")[0] for side in sides for name in side.own_headers} - {"rocm3d_declared"})
    kinds = [f"HIP {kit.compiler.about.hip} ({kit.compiler.about.headers})"]
    kinds += ["ROCm libraries from --hip-headers (real)"] if uses_hip_headers else []
    kinds += [f"declared by rocm3d: {', '.join(declared[:_MAX_HEADERS])}"] if declared else []
    return f"headers: {'; '.join(kinds)}"


def describe_problems(problems: Iterable[CompileProblem]) -> str:
    """The first 8 problems, and how many more there are."""
    listed = list(problems)
    more = f" ... and {len(listed) - _MAX_PROBLEMS} more" if len(listed) > _MAX_PROBLEMS else ""
    return "; ".join(str(problem) for problem in listed[:_MAX_PROBLEMS]) + more
