"""Renders documents for a terminal, those of a port here. Control characters in text of the repository are replaced."""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text

from rocm3d.model.base import Document
from rocm3d.model.counted import counted
from rocm3d.model.evidence import Evidence
from rocm3d.model.fit import Fit
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import FileChange, Patch
from rocm3d.model.plan import KNOWN_PROJECT, Plan
from rocm3d.model.verdict import Verdicts
from rocm3d.render import comparison, job_forms, rungs
from rocm3d.render.console_forms import SEVERITY_STYLE, document_lines, summary_lines, table
from rocm3d.render.grouping import group_by_family, severity_counts
from rocm3d.render.sanitize import clean
from rocm3d.render.unscanned import group_unscanned
from rocm3d.render.verdict_groups import verdict_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from rocm3d.model.fit import Comparison
    from rocm3d.model.inventory import HiddenFindings, UnscannedCode
    from rocm3d.model.plan import UnresolvedFinding

# Imported because it registers a form.
REGISTERED = (job_forms,)
_OUTCOME_STYLE = {"passed": "green", "failed": "bold red", "skipped": "cyan", "not_run": "yellow"}
_DECISION_STYLE = {"blocked": "bold red", "stub": "yellow", "substitute": "yellow", "keep": "dim"}
_DIFF_STYLE = {"+": Style.parse("green"), "-": Style.parse("red"), "@": Style.parse("cyan")}
_DIFF_HEADER = Style.parse("bold")


def render(document: Document, *, colour: bool = False, width: int = 100, terminal: bool = False) -> str:
    """The document as text; with ANSI colours if `colour`."""
    if isinstance(document, Scan):
        return _to_text(_scan(document, with_headings=terminal), colour=colour, width=width)
    if isinstance(document, Patch) and document.dry_run:
        return render_diff(document, colour=colour)
    return _to_text(document_lines(document), colour=colour, width=width)


def summary(document: Document, *, colour: bool = False, width: int = 100) -> str:
    """The closing lines of a document: counts and outcome."""
    return _to_text(summary_lines(document), colour=colour, width=width)


def _to_text(lines: Iterable[RenderableType], *, colour: bool, width: int) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=colour, no_color=not colour, width=width, highlight=False)
    for part in lines:
        console.print(part, soft_wrap=isinstance(part, Text))
    return stream.getvalue()


def _scan(document: Scan, *, with_headings: bool) -> Iterable[RenderableType]:
    """By family, most blocking first. A single family gets a heading only on a terminal."""
    groups = group_by_family(document.findings)
    for group in groups:
        if with_headings or len(groups) > 1:
            yield Text.assemble((clean(group.family), "bold"), f": {group.counts}")
        for finding in group.findings:
            yield Text.assemble(
                f"{clean(str(finding.location))}: ",
                (finding.code, SEVERITY_STYLE[finding.severity]),
                f" {finding.rule}: {clean(finding.message)}",
            )
            yield Text(f"  hint: {clean(finding.hint)}", style="dim")


@summary_lines.register(Scan)
def _scan_closing(document: Scan) -> Iterable[RenderableType]:
    inventory, counts = document.inventory, severity_counts(document.findings) or "no findings"
    unscanned = {(item.name, item.reason) for item in inventory.unscanned}
    for item in inventory.skipped:
        if (item.path, item.reason) not in unscanned:
            yield Text.assemble(("not read: ", "yellow"), f"{clean(item.path)} {clean(item.reason)}")
    if document.known:
        yield Text(f"{counted(document.known, 'known finding')} of the baseline hidden; the counts are of new findings")
    yield from _hidden_lines(inventory.hidden)
    if inventory.rules:
        yield Text(f"selected by the command line: {clean(inventory.rules)}; the other rules did not run", style="dim")
    sizes = inventory.counts
    yield Text(
        f"{clean(inventory.repository)}: {counts} in {counted(sizes.files, 'file')} "
        f"({sizes.cuda} C++/CUDA, {sizes.python} Python, {counted(sizes.manifests, 'manifest')})"
    )
    yield from _unscanned_lines(inventory.unscanned)
    yield Text.assemble("readiness: ", (inventory.readiness, "bold"), f" ({clean('; '.join(inventory.reasons))})")


def render_unscanned(unscanned: Iterable[UnscannedCode], *, width: int = 100) -> str:
    """What was not scanned, one line for each reason, with commands; empty if there is nothing."""
    return _to_text(_unscanned_lines(unscanned), colour=False, width=width)


def _unscanned_lines(unscanned: Iterable[UnscannedCode]) -> Iterator[Text]:
    for group in group_unscanned(unscanned):
        run = f". Run: {group.commands[0]}" if len(group.commands) in (1, 2) else ""
        yield Text.assemble(("not scanned: ", "yellow"), f"{clean(group.text)}{clean(run)}")
        yield from (Text(f"  {clean(line)}", style="dim") for line in (() if run else group.commands))


def _hidden_lines(hidden: Iterable[HiddenFindings]) -> Iterator[Text]:
    return (Text(clean(item.text), style="yellow") for item in hidden)


@document_lines.register(Plan)
def _plan(document: Plan) -> Iterable[RenderableType]:
    for warning in document.warnings:
        # A list of texts: the schema has no other field for the one that is good news.
        label = "" if warning.startswith(KNOWN_PROJECT) else "warning: "
        yield Text.assemble((label, "yellow"), clean(warning))
    for notice in document.licences:
        text = f"{notice.package} is under {notice.licence.name}. {notice.licence.note} {notice.licence.wording}"
        yield Text.assemble(("licence: ", "yellow"), clean(text.rstrip()))
    gpu = document.gpu
    yield Text(f"GPU: {gpu.title} ({gpu.gfx}, waves of {gpu.wave_size} lanes)")
    if document.stack is None:
        yield Text(f"stack: none for {document.platform}. Reason for each:", style="bold red")
    else:
        yield Text.assemble("stack: ", (document.stack.id, "bold"), f" ({document.stack.reason})")
    for item in document.rejected_stacks:
        yield Text(f"  not {item.id}: {item.reason}", style="dim")
    if changed := [item for item in document.decisions if item.decision != "keep"]:
        rows = (
            (item.name, Text(item.decision, _DECISION_STYLE.get(item.decision, "green")), item.route or "", item.reason)
            for item in changed
        )
        yield table(("dependency", "decision", "route", "why"), rows)
    if unchanged := len(document.decisions) - len(changed):
        yield Text(f"{counted(unchanged, 'package')} unchanged")
    for phase in document.phases:
        yield Text(f"phase {phase.number} {phase.title}: {phase.state}", style="dim" if phase.skipped else "")
    for edit in document.edits:
        yield Text(f"edit {clean(edit.path)}: {edit.recipe} ({edit.safety}), {counted(len(edit.findings), 'finding')}")
    yield from map(_left_line, document.left)


def _left_line(left: UnresolvedFinding) -> Text:
    finding = left.finding
    subject = f"{clean(str(finding.location))} {finding.code} {finding.rule}: {clean(left.reason)}"
    return Text.assemble(("left for a person: ", "yellow"), subject)


@summary_lines.register(Plan)
def _plan_closing(document: Plan) -> Iterable[RenderableType]:
    decided = Counter(item.decision for item in document.decisions)
    kinds = ", ".join(f"{count} {decision}" for decision, count in sorted(decided.items())) or "no dependencies"
    yield Text(f"{kinds}; {counted(len(document.edits), 'edit')}, {len(document.left)} left for a person")
    yield Text(f"effort by finding: {document.effort}")
    yield from _hidden_lines(document.hidden)
    yield Text.assemble("readiness: ", (document.readiness, "bold"))


@document_lines.register(Patch)
def _patch(document: Patch) -> Iterable[RenderableType]:
    """Changes that were made; a dry run is rendered as its diff instead."""
    verb = "would be" if document.dry_run else "was"
    yield from (_change_line(change, verb) for change in document.changes if change.kind == "edited")
    if added := sum(change.kind == "added" for change in document.changes):
        yield Text(f"{counted(added, 'file')} {'would be ' * document.dry_run}added in {document.folder}/")
    for module in (*document.modules, *document.dependencies):
        yield from (_change_line(change, f"gets its edits from {clean(module.file)};") for change in module.changes)
    yield from _refused_lines(document)
    yield from _review_lines(document)
    yield from _task_lines(document)


def _change_line(change: FileChange, verb: str) -> Text:
    return Text(f"{clean(change.path)} {verb} edited by {', '.join(change.recipes)}; {change.proof.detail}")


def _refused_lines(document: Patch) -> Iterable[Text]:
    """Edits that the user left out are one line for each reason. What a person has to make is a task instead."""
    for item in (item for item in document.refused if item.kind == "not_needed"):
        locations = ", ".join(item.places) or item.path
        yield Text(f"not needed: {clean(locations)}: {item.recipe}: {clean(item.reason)}", style="dim")
    for reason in dict.fromkeys(item.reason for item in document.left_out):
        items = [item for item in document.left_out if item.reason == reason]
        paths = ", ".join(clean(path) for path in dict.fromkeys(item.path for item in items))
        yield Text.assemble(("not made: ", "yellow"), f"{counted(len(items), 'edit')}, {clean(reason)} ({paths})")


def _review_lines(document: Patch) -> Iterable[Text]:
    for note in document.review:
        yield Text.assemble(("read: ", "cyan"), clean(f"{note.where}: {note.recipe}: {note.check}"))
    if document.review and not document.dry_run:
        edits = counted(len(document.review), "edit")
        yield Text(f"{edits} that somebody should read: rocm3d review PATH", style="dim")


def _task_lines(document: Patch) -> Iterable[Text]:
    for task in document.tasks:
        yield Text.assemble(("task: ", "yellow"), clean(f"{task.where} {task.code} {task.rule}: {task.reason}"))
        yield Text(f"  do: {clean(task.action)}", style="dim")
    if codes := list(dict.fromkeys(task.code for task in document.tasks if task.code)):
        yield Text(f"  more: rocm3d explain {codes[0]}; examples are in the report", style="dim")


def render_diff(patch: Patch, *, colour: bool = False) -> str:
    """All changes in order. Colour codes surround lines and never change their content."""
    return "".join(diff_text(change.diff, colour=colour) for change in patch.changes)


def diff_text(diff: str, *, colour: bool = False) -> str:
    """One diff, with control characters of the repository replaced."""
    return "".join(f"{line}\n" for line in _diff_lines(diff, colour=colour))


def _diff_lines(diff: str, *, colour: bool) -> Iterator[str]:
    header = True
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        header = header and not line.startswith("@@")
        style = _DIFF_HEADER if header else _DIFF_STYLE.get(line[:1])
        shown = _clean_line(line)
        yield style.render(shown, color_system=ColorSystem.STANDARD) if colour and style and shown else shown


def _clean_line(line: str) -> str:
    """Sanitized, except for what a patch needs to apply: tabs, form feeds and a final carriage return."""
    body = line.removesuffix("\r")
    return "".join(c if c in "\t\f" else clean(c) for c in body) + line[len(body) :]


@summary_lines.register(Patch)
def _patch_closing(document: Patch) -> Iterable[RenderableType]:
    if document.dry_run:
        yield from _patch(document)
    done, tasks, left_out = len(document.changes), counted(len(document.tasks), "task"), len(document.left_out)
    yield Text(f"{done} changed, {tasks}, {counted(left_out, 'edit')} left out, {len(document.review)} to read")


@document_lines.register(Verdicts)
def _verdicts(document: Verdicts) -> Iterable[RenderableType]:
    for item in verdict_groups(document.verdicts):
        outcome = (f"{item.outcome:8}", _OUTCOME_STYLE[item.outcome])
        yield Text.assemble(outcome, f" {item.level} {item.probe}: {clean(item.detail)}")


@summary_lines.register(Verdicts)
def _verdicts_closing(document: Verdicts) -> Iterable[RenderableType]:  # noqa: ARG001
    """How far the port is follows from more than these verdicts: `rungs.state_lines` of its state."""
    return ()


@document_lines.register(Evidence)
def _evidence(document: Evidence) -> Iterable[RenderableType]:
    return map(Text, rungs.state_lines(document.state)) if document.state else ()


@summary_lines.register(Evidence)
def _evidence_closing(document: Evidence) -> Iterable[RenderableType]:  # noqa: ARG001
    return ()


@document_lines.register(Fit)
def _fit(document: Fit) -> Iterable[RenderableType]:
    verdict = (comparison.RATINGS[document.viability], "bold") if document.viability else ("unknown", "bold yellow")
    yield Text.assemble(f"{clean(document.title)} on {document.gpu.title}, knowledge of {document.as_of}: ", verdict)
    for point in document.points:
        yield Text(f"  {point.effect:+d}  {point.why} [{point.source}]")
    for mode in document.memory:
        text = f"  memory: {mode.mode}, {mode.gb:g} GB: {comparison.memory_text(mode)} [{mode.source}]"
        yield Text(text, style="red" if mode.fits is False else "")
    yield from (Text(f"  note: {line}", style="dim") for line in document.notes)
    yield from (Text(f"  offload: {line}") for line in document.offload)
    for point in document.closed:
        yield Text(f"  no longer a problem: {point.why} [{point.source}]", style="dim")
    yield from (Text(f"  advice: {line}") for line in document.advice)
    if document.licence is not None:
        yield Text(f"  licence: {document.licence.name}. {document.licence.wording}".rstrip())
    if document.comparison is not None:
        yield from _comparison(document.comparison)


def _comparison(document: Comparison) -> Iterable[RenderableType]:
    yield Text(f"\nCUDA, ROCm or hybrid: {comparison.heading(document)}", style="bold")
    yield table(comparison.header(document), comparison.table_rows(document))
    for choice in document.choices:
        yield Text(choice.platform, style="bold")
        yield from (Text(f"  {clean(line)}") for line in comparison.pros_and_costs(choice))
    yield Text(f"conclusion: {clean(document.conclusion)}", style="bold")
    yield from (Text(f"note: {line}", style="dim") for line in comparison.card_notes(document))
    yield from (Text(f"source: {line}", style="dim") for line in comparison.source_lines(document))


@summary_lines.register(Fit)
def _fit_closing(document: Fit) -> Iterable[RenderableType]:
    if document.viability is None:
        yield Text("no score: this repository is not in the knowledge base")
    else:
        yield Text(f"{document.score} of 5: {comparison.RATINGS[document.viability]}")
