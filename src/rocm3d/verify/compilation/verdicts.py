"""What came out of the compiler, as verdicts: one for each script and each unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Outcome, Verdict
from rocm3d.verify.compilation.compile_side import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.model.compilation import Side
    from rocm3d.verify.compilation.classify import Problem
    from rocm3d.verify.compilation.extensions import Found
    from rocm3d.verify.compilation.kit import Kit
    from rocm3d.verify.compilation.session import Report, UnitReport

_SHOWN = 8  # errors of one unit
_HEADERS = 6


def verdict(
    probe: str, outcome: Outcome, reason: str = "", looked_at: Iterable[str] = (), level: Level = "compile"
) -> Verdict:
    """A verdict of the level."""
    return Verdict(level=level, probe=probe, outcome=outcome, reason=reason, looked_at=tuple(looked_at))


def of_report(probe: str, report: Report, kit: Kit) -> Iterator[Verdict]:
    """Scripts first, then units."""
    for found in report.found:
        yield _of_script(probe, found, report, kit)
    for name in report.missing:
        yield verdict(probe, "not_run", f"{name}: is not there; a submodule that is not checked out?")
    for name, why in report.untranslated.items():
        yield verdict(probe, "not_run", f"{name}: hipify cannot translate it: {why}")
    for item in report.units:
        yield of_unit(probe, item, kit)


def _of_script(probe: str, found: Found, report: Report, kit: Kit) -> Verdict:
    wrong = [problem for problem in report.flags if problem.path == found.script]
    wrong = [*([found.problem] if found.problem else []), *wrong]
    sources = sum(len(item.sources) for item in found.extensions)
    looked = [f"{found.script}: {len(found.extensions)} extensions, {sources} sources", kit.label]
    looked += [f"hipify {report.hipify}"] if report.hipify else []
    if wrong:
        return verdict(probe, "failed", told(wrong), looked)
    if not found.extensions:
        return verdict(probe, "skipped", found.note or f"{found.script}: no extension with device code")
    return verdict(probe, "passed", "", [*looked, *([found.note] if found.note else [])])


def of_unit(probe: str, item: UnitReport, kit: Kit) -> Verdict:
    """Failed where any side failed; not run where a library's header or time was missing."""
    looked = [*(shown(side) for side in item.sides.values()), headers(item.sides.values(), kit)]
    outcomes = {side.outcome for side in item.sides.values()}
    name = f"{item.unit.source} ({item.unit.extension})"
    if "failed" in outcomes:
        sides = ", ".join(side.side for side in item.sides.values() if side.outcome == "failed")
        return verdict(probe, "failed", f"{name}, {sides}: {told(item.problems)}", looked)
    if "lacks" in outcomes:
        away = sorted({side.lacks for side in item.sides.values() if side.lacks})
        return verdict(probe, "not_run", f"{name}: {', '.join(away)} is nowhere on this machine")
    if "timed_out" in outcomes:
        return verdict(probe, "not_run", f"{name}: the compiler took too long")
    return verdict(probe, "passed", "", [name, *looked])


def shown(side: Side) -> str:
    """One side of a unit in a line: for a target what the kernels use."""
    if side.outcome != "compiled" or side.side == HOST:
        return f"{side.side}: {side.outcome}"
    if not side.kernels:
        return f"{side.side}: an object without kernels"
    waves = "/".join(str(width) for width in sorted({kernel.wave_size for kernel in side.kernels}))
    vgprs, lds = max(kernel.vgprs for kernel in side.kernels), max(kernel.lds_bytes for kernel in side.kernels)
    sgprs, spilling = max(kernel.sgprs for kernel in side.kernels), [k for k in side.kernels if k.spills]
    empty = sum(kernel.empty for kernel in side.kernels)
    words = [
        f"{len(side.kernels)} kernels",
        f"wave {waves}",
        f"at most {vgprs} VGPRs, {sgprs} SGPRs, {lds} bytes of LDS",
    ]
    words += [f"{len(spilling)} spill registers"] if spilling else ["no spills"]
    return f"{side.side}: {', '.join(words)}" + (f", {empty} empty" if empty else "")


def headers(sides: Iterable[Side], kit: Kit) -> str:
    """Which headers a unit was compiled with: real ones, mixed releases, or declarations of ours among them."""
    given = any(side.given_headers for side in sides)
    ours = sorted({name.partition("/")[0] for side in sides for name in side.own_headers} - {"rocm3d_declared"})
    kinds = [f"HIP {kit.compiler.about.hip} ({kit.compiler.about.headers})"]
    kinds += ["ROCm libraries as given (real)"] if given else []
    kinds += [f"declared by rocm3d: {', '.join(ours[:_HEADERS])}"] if ours else []
    return f"headers: {'; '.join(kinds)}"


def told(problems: Iterable[Problem]) -> str:
    """The first few, and how many more."""
    found = list(problems)
    more = f" ... and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(str(problem) for problem in found[:_SHOWN]) + more
