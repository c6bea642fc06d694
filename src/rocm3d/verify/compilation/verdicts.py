"""Verdicts of levels compile and nvidia: one for each build script, and one for each side of each unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.model.task import PortTask
from rocm3d.verify.compilation.compile_options import RESUME_COMMAND
from rocm3d.verify.compilation.compile_side import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rocm3d.model.code import Code
    from rocm3d.model.verdict import CompileResult, Outcome, Verdict
    from rocm3d.verify.compilation.classify import CompileProblem
    from rocm3d.verify.compilation.extensions import ScriptExtensions
    from rocm3d.verify.compilation.kit import CompileKit
    from rocm3d.verify.compilation.session import CompileReport, UnitReport
    from rocm3d.verify.compilation.translation_unit import TranslationUnit
    from rocm3d.verify.probe import Probe

_MAX_PROBLEMS = 8  # errors of one unit
_MAX_MESSAGES = 3  # of one task
_MISSING = "file not found"
_MAX_HEADERS = 6
_UNRULED_ACTION = f"change it under `#if defined(USE_ROCM)`, then check with {RESUME_COMMAND}"
_CMAKE_REASON = "CMake does not translate sources, and this file contains CUDA names"
_CMAKE_ACTION = (
    "translate it before the build, for example with hipify-perl, or include a header under `#if defined(USE_ROCM)` "
    "that defines the CUDA names"
)


@dataclass(frozen=True)
class VerdictContext:
    """What verdicts of one compile run share. `cut_off_reason`: of units that the budget left out."""

    probe: Probe
    kit: CompileKit
    codes: Mapping[str, Code]
    cut_off_reason: str = ""


def report_verdicts(report: CompileReport, context: VerdictContext) -> Iterator[Verdict]:
    """Targets that cannot be compiled for, scripts, then units."""
    probe = context.probe
    for gfx in report.unsupported:
        targets = ", ".join(context.kit.compiler.about.targets)
        reason = f"{context.kit.compiler.about.title} does not compile for this target"
        yield probe.verdict("not_run", f"{reason}, only for {targets}" if targets else reason, target=gfx)
    for script in report.scripts:
        yield _script_verdict(script, report, context)
    for name in report.missing:
        reason = "source is missing: a submodule that is not checked out?"
        yield probe.verdict("not_run", reason, subject=name)
    for name, why in report.untranslated.items():
        yield probe.verdict("not_run", f"hipify failed: {why}", subject=name)
    for item in report.units:
        for name in item.sides:
            yield side_verdict(item, name, context)


def unit_name(unit: TranslationUnit) -> str:
    """The subject of the unit's verdicts."""
    return f"{unit.source} ({unit.extension})"


def _script_verdict(script: ScriptExtensions, report: CompileReport, context: VerdictContext) -> Verdict:
    probe = context.probe
    problems = [problem for problem in report.flags if problem.path == script.script]
    problems = [*([script.problem] if script.problem else []), *problems]
    sources = sum(len(item.sources) for item in script.extensions)
    checked = [f"{script.script}: extensions: {len(script.extensions)}, sources: {sources}", context.kit.label]
    checked += [f"hipify {report.hipify}"] if report.hipify else []
    if problems:
        tasks = tasks_of(problems, context.codes)
        return probe.verdict("failed", describe_problems(problems), checked, subject=script.script, tasks=tasks)
    if not script.extensions:
        reason = script.note or "no extension with device code"
        return probe.verdict("not_run" if script.error else "skipped", reason, subject=script.script)
    untranslated = _sources_that_cmake_leaves(script, report)
    if untranslated:
        reason = f"CMake does not translate sources; CUDA names in {', '.join(untranslated)}"
        tasks = tuple(_cmake_task(path) for path in untranslated)
        return probe.verdict("failed", reason, checked, subject=script.script, tasks=tasks)
    checked += [script.note] if script.note else []
    return probe.verdict("passed", "", checked, subject=script.script)


def _sources_that_cmake_leaves(script: ScriptExtensions, report: CompileReport) -> list[str]:
    """Files of CMake targets that hipify changed for this check: CMake itself calls no hipify."""
    if any(item.uses_torch for item in script.extensions):
        return []
    others = {name for one in report.scripts for item in one.extensions if item.uses_torch for name in item.sources}
    if others:
        return sorted({name for item in script.extensions for name in item.sources} & set(report.translated) - others)
    return sorted(report.translated)


def side_verdict(item: UnitReport, name: str, context: VerdictContext) -> Verdict:
    """not_run if a library's header was missing, or the compiler was stopped or did not start."""
    side = item.sides[name]

    def verdict(outcome: Outcome, reason: str, checked: Iterable[str] = (), tasks: Iterable[PortTask] = ()) -> Verdict:
        subject = unit_name(item.unit)
        return context.probe.verdict(outcome, reason, checked, subject=subject, target=name, tasks=tasks)

    if side.outcome == "failed":
        problems = item.problems_by_side[name]
        checked = [describe_side(side), describe_headers(side, context.kit)]
        return verdict("failed", describe_problems(problems), checked, tasks_of(problems, context.codes))
    if side.outcome == "lacks":
        return verdict("not_run", f"header {side.lacks} not found on this machine")
    if side.outcome == "timed_out":
        return verdict("not_run", f"the compiler was stopped: {side.stopped or 'the time limit'}")
    if side.outcome == "cut_off":
        return verdict("not_run", context.cut_off_reason)
    return verdict("passed", "", [describe_side(side), describe_headers(side, context.kit)])


def tasks_of(problems: Iterable[CompileProblem], codes: Mapping[str, Code]) -> tuple[PortTask, ...]:
    """One task for each file and rule, and for each error that no rule explains, with all lines where it occurs.

    Where a header is missing, errors that no rule explains are left out: they follow from it.
    """
    all_problems = list(problems)
    is_header_missing = any(problem.code and problem.message.endswith(_MISSING) for problem in all_problems)
    groups: dict[tuple[str, str], list[CompileProblem]] = {}
    for problem in all_problems:
        if problem.code or not is_header_missing:
            groups.setdefault((problem.path, problem.code or problem.message), []).append(problem)
    return tuple(_task(group, codes.get(group[0].code)) for group in groups.values())


def _task(problems: Sequence[CompileProblem], code: Code | None) -> PortTask:
    path, lines = problems[0].path, tuple(sorted({problem.line for problem in problems if problem.line}))
    messages = list(dict.fromkeys(problem.message for problem in problems))
    if code is None:
        return PortTask(path=path, lines=lines, reason=messages[0], action=_UNRULED_ACTION)
    more = f"; and {len(messages) - _MAX_MESSAGES} more" if len(messages) > _MAX_MESSAGES else ""
    reason = "; ".join(messages[:_MAX_MESSAGES]) + more
    return PortTask(
        path=path, lines=lines, code=code.code, rule=code.rule, reason=reason, action=code.hint, effort=code.effort
    )


def _cmake_task(path: str) -> PortTask:
    return PortTask(path=path, reason=_CMAKE_REASON, action=_CMAKE_ACTION, effort="hours")


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


def describe_headers(side: CompileResult, kit: CompileKit) -> str:
    """The headers that one side was compiled with: HIP, --hip-headers, and those that rocm3d declares."""
    declared = sorted({name.partition("/")[0] for name in side.own_headers} - {"rocm3d_declared"})
    kinds = [f"HIP {kit.compiler.about.hip} ({kit.compiler.about.headers})"]
    kinds += ["ROCm libraries from --hip-headers (real)"] if side.given_headers else []
    kinds += [f"declared by rocm3d: {', '.join(declared[:_MAX_HEADERS])}"] if declared else []
    return f"headers: {'; '.join(kinds)}"


def describe_problems(problems: Iterable[CompileProblem]) -> str:
    """The first 8 problems, and how many more there are."""
    listed = list(problems)
    more = f" ... and {len(listed) - _MAX_PROBLEMS} more" if len(listed) > _MAX_PROBLEMS else ""
    return "; ".join(str(problem) for problem in listed[:_MAX_PROBLEMS]) + more
