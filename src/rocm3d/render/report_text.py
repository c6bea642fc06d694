"""Renders a port report as Markdown: outcome, proof, changes with diffs, and runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.model.counted import counted
from rocm3d.render import run_text
from rocm3d.render.grouping import NO_FAMILY, group_by, level_summaries
from rocm3d.render.markdown import code, escape, section, table
from rocm3d.render.run_view import run_views
from rocm3d.render.sanitize import clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.bundle import BundleReport
    from rocm3d.model.verdict import Verdict
    from rocm3d.render.html import PortReportView
    from rocm3d.render.run_view import ArtifactView, RunView


_AFTER = "becomes"


def render(report: PortReportView, knowledge: Knowledge) -> str:
    parts = (
        _opening(report),
        _warnings(report),
        _checks(report.verdicts.verdicts),
        _dependencies(report, knowledge),
        _changes(report),
        _tasks(report),
        _runs(report.views),
        (f"- {code(item.folder)} cannot be shown: {escape(item.reason)}" for item in report.unread),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def render_bundle(report: BundleReport) -> str:
    bundle, altered = report.bundle, [f"- {escape(run_text.altered_text(item))}" for item in report.altered]
    warning = "**Changed since it was sealed.** Do not trust the rest before these are explained:"
    lines = [
        f"# Evidence {escape(report.name)}",
        "",
        *([warning, "", *altered, ""] if altered else []),
        f"sha256 of evidence.json: {code(report.sha256)}, {counted(len(bundle.files), 'file')}.",
        *(_proof(bundle.verdicts) if bundle.verdicts else ()),
        *_runs(run_views(report.runs)),
    ]
    return "\n".join(lines) + "\n"


def _opening(report: PortReportView) -> Iterator[str]:
    yield f"# {escape(report.plan.repository)} on {escape(report.plan.gpu.title)}"
    yield f"\n**{escape(report.outcome)}** {report.ran}"
    yield from _state(report)
    yield from moved_lines(report)


def _state(report: PortReportView) -> Iterator[str]:
    yield ""
    rows = ((item.level, escape(item.question), item.word, escape(item.text)) for item in report.rungs)
    yield from table(("rung", "question", "state", "detail"), rows)
    if report.left:
        yield f"\n{escape(report.left)}."
    yield f"\n{escape(report.next)}"


def moved_lines(report: PortReportView) -> Iterator[str]:
    """The files that no longer match their seal, if any."""
    if report.moved:
        yield f"\n**Changed since it was sealed: {', '.join(map(code, report.moved))}.**"


def _warnings(report: PortReportView) -> Iterator[str]:
    plan = report.plan
    lines = [
        *(f"- {code(item.name)} is replaced ({item.decision}): {escape(item.reason)}" for item in plan.stubs),
        *(f"- Without {code(item.name)}: {escape(item.loses)}" for item in report.turned_off),
        *(f"- {escape(item.package)} is under {escape(item.licence.name)}." for item in plan.licences),
    ]
    if lines:
        yield from section("Read this first")
        yield from lines


def _checks(verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    """One row for all that passed in a check, and one for each other reason."""
    yield from section("Checks")
    yield from ("A check that was not run is neither passed nor failed.", "")
    groups = group_by(verdicts, lambda item: (item.level, item.probe, item.outcome, item.reason))
    rows = (
        (level, code(probe), outcome.replace("_", " "), escape(reason) or counted(len(group), "result"))
        for (level, probe, outcome, reason), group in groups.items()
    )
    yield from table(("level", "check", "outcome", "detail"), rows)


def _proof(verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    yield from section("Proven and not proven")
    yield from ("A check that was not run is neither passed nor failed.", "")
    rows = ((item.level, escape(item.asks), item.word, escape(item.says)) for item in level_summaries(verdicts))
    yield from table(("level", "question", "outcome", "detail"), rows)


def _dependencies(report: PortReportView, knowledge: Knowledge) -> Iterator[str]:
    if not report.plan.decisions:
        return
    families = {name: package.family for name, package in knowledge.packages.items()} | dict(report.families)
    rows = (
        (code(item.name), escape(families.get(item.package or "", NO_FAMILY)), item.decision, escape(item.reason))
        for item in report.decided
    )
    yield from (*section("Dependencies"), *table(("name", "family", "decision", "why"), rows))


def _changes(report: PortReportView) -> Iterator[str]:
    yield from section("Changes")
    if not report.changes:
        yield "Nothing was changed."
        return
    rows = (
        (code(change.path), change.kind, "holds" if change.proof.holds else "**fails**", escape(change.proof.detail))
        for change in report.changes
    )
    yield from table(("file", "change", "proof", "same without ROCm"), rows)
    for change in report.patch.edited:
        notes = (f"{code(note.where)} {code(note.recipe)}: {escape(note.check)}" for note in change.review)
        yield from (f"\nSomebody should read {note}" for note in notes)
        yield from fenced("diff", change.diff)


def fenced(language: str, content: str) -> Iterator[str]:
    """A block of code. The fence is longer than any inside, so that the content cannot end it."""
    text = clean_multiline(content.rstrip("\n"))
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=2))
    yield from ("", f"{fence}{language}", text, fence)


def _tasks(report: PortReportView) -> Iterator[str]:
    if report.patch.tasks:
        yield from section("Tasks for a person")
    for task in report.patch.tasks:
        yield f"- {code(task.where)} {task.code} {task.rule}: {escape(task.reason)}. **{escape(task.action)}**"
        if task.example_after:
            example = f"{task.example_before}\n\n{_AFTER}\n\n{task.example_after}"
            yield from (f"  {line}" for part in fenced("text", example) for line in part.split("\n"))
            yield f"\n  Effort: {task.effort}. More: `rocm3d explain {task.code}`"
    others = [item for item in report.patch.refused if item.kind != "task"]
    if others:
        yield from section("Edits that were not made")
    for item in others:
        prefix = "not needed: " if item.kind == "not_needed" else ""
        yield f"- {code(item.path)} {code(item.recipe)}: {prefix}{escape(item.reason)}"


def _runs(run_views: tuple[RunView, ...]) -> Iterator[str]:
    yield from section("Runs")
    if not run_views:
        yield "No run was recorded."
    for view in run_views:
        yield f"### {escape(view.run.name)}"
        yield f"\n**{escape(view.sentence)}**"
        yield from (f"\n{escape(view.remark)}", "") if view.remark else ("",)
        links = ((link.link, escape(run_text.link_text(link))) for link in view.item.chain.links)
        yield from table(("link", "content"), links)
        yield ""
        lines = (line for line in run_text.run_lines(view.run) if line[0] not in ("module", "artifact"))
        yield from (f"- {escape(label)}: {escape(text)}" for label, text in lines)
        for met in view.run.expectations:
            yield f"- {'met' if met.met else '**not met**'}: {code(met.expectation)}, actual: {escape(met.found)}"
        if view.artifacts:
            rows = map(_artifact_row, view.artifacts)
            yield from ("", *table(("artifact", "kind", "outcome", "metrics or problems"), rows), "")


def _artifact_row(view: ArtifactView) -> tuple[str, ...]:
    details = "; ".join(view.item.problems) or ", ".join(f"{name} {value}" for name, value in view.numbers)
    return code(view.item.path), escape(view.what), view.word, escape(details)
