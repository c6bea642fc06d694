"""Renders a port as the text of a pull request: limitations, changes, proof, and what was not tested."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rocm3d import __version__
from rocm3d.model.counted import counted
from rocm3d.render.finding_outcomes import finding_outcomes
from rocm3d.render.grouping import group_by
from rocm3d.render.markdown import code, escape, section, table
from rocm3d.render.report_text import moved_lines
from rocm3d.render.run_text import hardware_text
from rocm3d.render.rungs import rung_line
from rocm3d.render.unscanned import group_unscanned
from rocm3d.render.verdict_groups import VerdictGroup, verdict_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.patch import FileChange
    from rocm3d.model.plan import Plan
    from rocm3d.render.html import PortReportView


def render(report: PortReportView, knowledge: Knowledge) -> str:
    """Deterministic: the text contains neither dates nor the machine."""
    parts = (
        _opening(report),
        _limitations(report.plan),
        _changes(report, knowledge),
        _proof(report),
        _not_tested(report),
        _tasks(report),
        _findings(report, knowledge),
    )
    lines = [line for part in parts for line in part]
    return "\n".join([*lines, "", f"Made with rocm3d {__version__}."]) + "\n"


def _opening(report: PortReportView) -> Iterator[str]:
    plan, folder = report.plan, report.patch.folder
    base = plan.base.title if plan.base else "no base supports it yet"
    yield from (
        f"# Build and run {escape(plan.repository)} with ROCm",
        "",
        f"For {escape(plan.gpu.title)} ({code(plan.gpu.gfx)}) on this base: {escape(base)}.",
        f"All new files are in {code(f'{folder}/')}. Edits of existing files are guarded: a build or a run without",
        "ROCm sees the same code as before.",
    )
    unguarded = [change.path for change in report.patch.edited if change.proof.kind == "closed-list"]
    if unguarded:
        yield f"Exceptions, listed below: {', '.join(map(code, unguarded))} have edits that cannot be guarded."
    yield from moved_lines(report)


def _limitations(plan: Plan) -> Iterator[str]:
    """First, because it is what users notice."""
    yield from section("Limitations")
    decisions = {item.name: item for item in (*plan.losses, *plan.stubs)}
    blocked = [item for item in plan.decisions if item.decision == "blocked"]
    if not decisions and not blocked:
        yield "None known: no feature is disabled and no package is replaced."
    for item in blocked:
        yield f"- {code(item.name)} cannot be installed for this GPU: {escape(item.reason)}"
    for item in decisions.values():
        effect = f"without {escape(item.loses)}" if item.loses else escape(item.reason)
        yield f"- {code(item.name)} ({item.decision}): {effect}"


def _changes(report: PortReportView, knowledge: Knowledge) -> Iterator[str]:
    patch = report.patch
    added = [change for change in patch.changes if change.kind == "added"]
    yield from section("What changed, and why")
    yield f"{counted(len(patch.edited), 'file')} edited, {len(added)} added."
    if patch.edited:
        rows = (_edited_row(change, report) for change in patch.edited)
        yield from ("", *table(("file", "edits", "without ROCm"), rows))
    used = {name for change in patch.edited for name in change.recipes}
    recipes = [knowledge.recipes[name] for name in sorted(used & set(knowledge.recipes))]
    yield from ("",) if recipes else ()
    yield from (f"- {code(recipe.id)}: {escape(recipe.title)}. {escape(recipe.why)}" for recipe in recipes)
    if patch.review:
        yield "\nPlease read these edits. The proof is about builds without ROCm; these change what ROCm builds do:\n"
    yield from (f"- {code(note.where)} {code(note.recipe)}: {escape(note.check)}" for note in patch.review)
    if added:
        yield f"\nAdded: {', '.join(code(change.path) for change in added)}."


def _edited_row(change: FileChange, report: PortReportView) -> tuple[str, ...]:
    module = next((item for item in report.patch.modules if change in item.changes), None)
    by_patch = f" by {code(module.file)}" if module is not None else ""
    return (
        f"{code(change.path)}{by_patch}",
        ", ".join(code(name) for name in change.recipes),
        escape(change.proof.detail),
    )


def _proof(report: PortReportView) -> Iterator[str]:
    yield from section("Proof")
    edited = report.patch.edited
    proven = sum(change.proof.holds for change in edited)
    yield f"- State of the port: {rung_line(report.state)}."
    yield f"- Isolation: {proven} of {len(edited)} edited files are proven to be the same without ROCm."
    for outcome in ("failed", "passed"):
        yield from (_verdict_line(item) for item in verdict_groups(report.verdicts.verdicts) if item.outcome == outcome)
    current = [view for view in report.views if not view.later]
    for view in current:
        remark = f" {escape(view.remark)}" if view.remark else ""
        yield f"- Run {code(view.run.name)}, {escape(hardware_text(view.run))}: {escape(view.sentence)}{remark}"
    if not report.state.rung("ran").done and not any(view.run.manifest.gpu for view in current):
        yield "- Nothing was run on a GPU. Code that compiles may still be wrong."


def _verdict_line(verdict: VerdictGroup) -> str:
    more = f" and {len(verdict.checks) - 4} more" if len(verdict.checks) > 4 and not verdict.reason else ""
    covered = "" if verdict.reason or verdict.scope else "covered "
    names = verdict.detail if verdict.reason or verdict.scope else ", ".join(verdict.checks[:4])
    detail = escape(f"{covered}{names}{more}")
    outcome = f"**{verdict.outcome}**" if verdict.outcome == "failed" else verdict.outcome
    return f"- {verdict.level}, {code(verdict.probe)}: {outcome}; {detail}"


def _first_few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{'; '.join(names[:4])}{more}"


def _not_tested(report: PortReportView) -> Iterator[str]:
    yield from section("What was not tested")
    missing = [item for item in report.verdicts.verdicts if item.outcome in ("not_run", "skipped")]
    reasons = group_by(missing, lambda item: (item.level, item.outcome, item.reason))
    for (level, outcome, reason), verdicts in reasons.items():
        probes = ", ".join(dict.fromkeys(code(item.probe) for item in verdicts))
        scopes = dict.fromkeys(item.scope for item in verdicts if item.scope)
        units = f" ({escape(_first_few(tuple(scopes)))})" if scopes else ""
        yield f"- {level}, {probes}: {outcome.replace('_', ' ')}; {escape(reason)}{units}"
    for stub in report.plan.stubs:
        yield f"- {code(stub.name)}: a {stub.decision} never counts as verified."
    for group in group_unscanned(unscanned := report.scan.inventory.unscanned):
        names = ", ".join(map(code, group.names))
        yield f"- Not scanned: {names} ({escape(group.reason)}).{' To scan it:' if group.commands else ''}"
        yield from (f"  - {code(command)}" for command in group.commands)
    if not (missing or unscanned) and report.state.is_complete:
        yield "Nothing: every check of rocm3d was run."


def _tasks(report: PortReportView) -> Iterator[str]:
    """What maintainers have to change by hand."""
    if report.patch.tasks:
        yield from section("Left to do")
    for task in report.patch.tasks:
        yield f"- {code(task.where)} {task.code} {task.rule}: {escape(task.reason)}. {escape(task.action)}."


def _findings(report: PortReportView, knowledge: Knowledge) -> Iterator[str]:
    outcomes = finding_outcomes(report, knowledge)
    yield from section("All findings")
    counts = Counter(item.outcome for item in outcomes for _ in item.positions)
    yield f"{', '.join(f'{number} {outcome}' for outcome, number in counts.items()) or 'No findings'}."
    if outcomes:
        rows = ((item.outcome, code(item.location), f"{item.code} {item.rule}", escape(item.how)) for item in outcomes)
        yield from ("", *table(("outcome", "location", "finding", "how, or why not"), rows))
