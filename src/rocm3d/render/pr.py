"""Renders a port as the text of a pull request: limitations, changes, proof, and what was not tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d import __version__
from rocm3d.render.answers import answers
from rocm3d.render.markdown import code, escape, section, table
from rocm3d.render.runs import place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.patch import FileChange
    from rocm3d.model.plan import Plan
    from rocm3d.model.verdict import Verdict
    from rocm3d.render.html import Report

_RAN = ("import", "backend", "numerics", "workload")


def render(report: Report, knowledge: Knowledge) -> str:
    """Deterministic: the text contains neither dates nor the machine."""
    parts = (
        _opening(report),
        _without(report.plan),
        _changed(report, knowledge),
        _proof(report),
        _not_tested(report),
        _findings(report, knowledge),
    )
    lines = [line for part in parts for line in part]
    return "\n".join([*lines, "", f"Made with rocm3d {__version__}."]) + "\n"


def _opening(report: Report) -> Iterator[str]:
    plan, folder = report.plan, report.patch.folder
    base = plan.base.title if plan.base else "no base supports it yet"
    yield f"# Build and run {escape(plan.repository)} with ROCm"
    yield ""
    yield f"For {escape(plan.gpu.title)} ({code(plan.gpu.gfx)}) on this base: {escape(base)}."
    yield f"All new files are in {code(f'{folder}/')}. Edits of existing files are guarded: a build or a run without"
    yield "ROCm sees the same code as before."
    unguarded = [change.path for change in report.patch.edited if change.proof.kind == "closed-list"]
    if unguarded:
        yield f"Exceptions, listed below: {', '.join(map(code, unguarded))} have edits that cannot be guarded."
    if report.moved:
        yield ""
        yield f"**Changed since it was sealed: {', '.join(map(code, report.moved))}.**"


def _without(plan: Plan) -> Iterator[str]:
    """First, because it is what users notice."""
    yield from section("Limitations")
    found = {item.name: item for item in (*plan.losses, *plan.stubs)}
    blocked = [item for item in plan.decisions if item.decision == "blocked"]
    if not found and not blocked:
        yield "None known: no feature is disabled and no package is replaced."
    for item in blocked:
        yield f"- {code(item.name)} cannot be installed for this GPU: {escape(item.reason)}"
    for item in found.values():
        lost = f"without {escape(item.loses)}" if item.loses else escape(item.reason)
        yield f"- {code(item.name)} ({item.decision}): {lost}"


def _changed(report: Report, knowledge: Knowledge) -> Iterator[str]:
    patch = report.patch
    added = [change for change in patch.changes if change.kind == "added"]
    yield from section("What changed, and why")
    yield f"{len(patch.edited)} files edited, {len(added)} added."
    recipes = dict.fromkeys(name for change in patch.edited for name in change.recipes)
    if patch.edited:
        yield ""
        yield from table(("file", "edits", "without ROCm"), (_edited(change, report) for change in patch.edited))
    known = [knowledge.recipes[name] for name in sorted(recipes) if name in knowledge.recipes]
    yield from ("",) if known else ()
    yield from (f"- {code(recipe.id)}: {escape(recipe.title)}. {escape(recipe.why)}" for recipe in known)
    if added:
        yield ""
        yield f"Added: {', '.join(code(change.path) for change in added)}."


def _edited(change: FileChange, report: Report) -> tuple[str, ...]:
    module = next((item for item in report.patch.modules if change in item.changes), None)
    through = f" by {code(module.file)}" if module is not None else ""
    return (
        f"{code(change.path)}{through}",
        ", ".join(code(name) for name in change.recipes),
        escape(change.proof.detail),
    )


def _proof(report: Report) -> Iterator[str]:
    yield from section("Proof")
    edited = report.patch.edited
    held = sum(change.proof.holds for change in edited)
    yield f"- Isolation: {held} of {len(edited)} edited files are proven to be the same without ROCm."
    for outcome in ("failed", "passed"):
        for item in report.verdicts.verdicts:
            if item.outcome == outcome:
                yield f"- {_verdict(item)}"
    current = [view for view in report.views if not view.later]
    for view in current:
        remark = f" {escape(view.remark)}" if view.remark else ""
        yield f"- Run {code(view.run.name)}, {escape(place(view.run))}: {escape(view.sentence)}{remark}"
    ran = any(item.outcome == "passed" and item.level in _RAN for item in report.verdicts.verdicts)
    if not ran and not any(view.run.manifest.gpu for view in current):
        yield "- Nothing was run on a GPU. Code that compiles may still be wrong."


def _verdict(item: Verdict) -> str:
    looked = ", ".join(item.looked_at[:4]) + (f" and {len(item.looked_at) - 4} more" if len(item.looked_at) > 4 else "")
    about = escape(item.reason or f"covered {looked}")
    outcome = f"**{item.outcome}**" if item.outcome == "failed" else item.outcome
    return f"{item.level}, {code(item.probe)}: {outcome}; {about}"


def _not_tested(report: Report) -> Iterator[str]:
    yield from section("What was not tested")
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for item in report.verdicts.verdicts:
        if item.outcome in ("not_run", "skipped"):
            reasons.setdefault((item.level, item.outcome, item.reason), []).append(item.probe)
    for (level, outcome, reason), probes in reasons.items():
        yield f"- {level}, {', '.join(map(code, probes))}: {outcome.replace('_', ' ')}; {escape(reason)}"
    if report.evidence.missing:
        yield f"- Not proven: {'; '.join(escape(item.link) for item in report.evidence.missing)}."
    for stub in report.plan.stubs:
        yield f"- {code(stub.name)}: a {stub.decision} never counts as verified."
    for unseen in report.patch.unseen:
        yield f"- Not checked: {code(unseen.name)} ({escape(unseen.reason)}). To check it:"
        yield from (f"  - {code(command)}" for command in unseen.commands)
    if not (reasons or report.evidence.missing or report.plan.stubs or report.patch.unseen):
        yield "Nothing: every check of rocm3d was run."


def _findings(report: Report, knowledge: Knowledge) -> Iterator[str]:
    found = answers(report, knowledge)
    yield from section("All findings")
    counts: dict[str, int] = {}
    for item in found:
        counts[item.outcome] = counts.get(item.outcome, 0) + len(item.places)
    yield f"{', '.join(f'{number} {outcome}' for outcome, number in counts.items()) or 'No findings'}."
    if found:
        yield ""
        rows = ((item.outcome, code(item.where), f"{item.code} {item.rule}", escape(item.how)) for item in found)
        yield from table(("outcome", "location", "finding", "how, or why not"), rows)
