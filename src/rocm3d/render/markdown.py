"""Renders documents as Markdown, for issues and job summaries. Text of the repository is escaped."""

from __future__ import annotations

import re
from collections import Counter
from functools import singledispatch
from typing import TYPE_CHECKING

from rocm3d.model.base import Document
from rocm3d.model.bundle import BundleCheck, EvidenceDiff
from rocm3d.model.condition import Diagnosis
from rocm3d.model.counted import counted
from rocm3d.model.fit import Fit
from rocm3d.model.inventory import Scan
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdicts
from rocm3d.render import comparison, console_forms, run_text
from rocm3d.render.grouping import NO_FAMILY, group_by, group_by_family, severity_counts
from rocm3d.render.sanitize import clean
from rocm3d.render.unscanned import group_unscanned
from rocm3d.render.verdict_groups import verdict_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.fit import Comparison
    from rocm3d.model.package import Decision
    from rocm3d.model.plan import DependencyDecision
    from rocm3d.model.verdict import Outcome

# Most blocking first.
_DECISION_ORDER: tuple[Decision, ...] = ("blocked", "stub", "substitute", "build", "replace", "drop", "keep")
_OUTCOME_ORDER: tuple[Outcome, ...] = ("failed", "not_run", "skipped", "passed")


def render(document: Document, knowledge: Knowledge) -> str:
    """`knowledge` provides the families of packages."""
    return "\n".join(_lines(document, knowledge)) + "\n"


def escape(text: str) -> str:
    """Plain text in Markdown: no markup, HTML, link, mention or issue reference."""
    plain = clean(" ".join(text.split()))
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = re.sub(r"([\\`*_\[\]~$#]|:(?=//))", r"\\\1", plain).replace("|", "&#124;")
    plain = re.sub(r"(?i)\bwww\.", r"www\\.", plain)
    # GitHub resolves mentions and issue numbers after Markdown, but not inside code.
    plain = re.sub(r"@(?=\w)", "`@`", plain)
    return re.sub(r"\\#(?=\d)", "`#`", plain)


def code(text: str) -> str:
    """A path or name as code, or escaped if it contains characters that end the code or the table cell."""
    plain = clean(" ".join(text.split()))
    return escape(text) if not plain or set("`|\\") & set(plain) else f"`{plain}`"


@singledispatch
def _lines(document: Document, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001  (one signature for all)
    raise TypeError(f"no Markdown form for {type(document).__name__}")


@_lines.register(Scan)
def _scan(document: Scan, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    inventory = document.inventory
    counts = severity_counts(document.findings) or "no findings"
    known = f"; {counted(document.known, 'known finding')} of the baseline hidden" if document.known else ""
    yield f"# Scan of {escape(inventory.repository)}"
    yield f"\nReadiness: **{inventory.readiness}** ({escape('; '.join(inventory.reasons))})."
    yield f"In {counted(inventory.counts.files, 'file')}: {counts}{known}."
    yield from (f"\nNote: {escape(item.text)}." for item in inventory.hidden)
    if inventory.rules:
        yield f"\nNote: selected by the command line: {escape(inventory.rules)}; the other rules did not run."
    for group in group_by_family(document.findings):
        rows = (
            (item.severity, code(str(item.location)), finding_text(item), escape(item.hint)) for item in group.findings
        )
        title = f"{escape(group.family)}: {group.counts}"
        yield from _table_section(title, ("severity", "location", "finding", "what to do"), rows)
    unscanned = (
        (escape(group.text), "; ".join(code(line) for line in group.commands))
        for group in group_unscanned(inventory.unscanned)
    )
    yield from _table_section("Not scanned", ("what", "commands"), unscanned)
    skipped = ((code(item.path), escape(item.reason)) for item in inventory.skipped)
    yield from _table_section("Not read or not fully parsed", ("file", "why"), skipped)


def finding_text(finding: Finding) -> str:
    """Code, rule and message."""
    return f"{escape(finding.code)} {escape(finding.rule)}: {escape(finding.message)}"


@_lines.register(Plan)
def _plan(document: Plan, knowledge: Knowledge) -> Iterator[str]:
    gpu, stack = document.gpu, document.stack
    base = f"{code(stack.id)} ({escape(stack.reason)})" if stack else f"none for {document.platform}"
    yield f"# Plan for {escape(document.repository)} on {escape(gpu.title)}"
    yield f"\nReadiness: **{document.readiness}**. GPU: {code(gpu.gfx)}, waves of {gpu.wave_size} lanes. Stack: {base}."
    yield from (f"\nNote: {escape(item.text)}." for item in document.hidden)
    yield from (f"\nWarning: {escape(warning)}" for warning in document.warnings)
    yield f"\nEffort by finding: {document.effort}."
    licences = (
        (escape(item.package), escape(item.licence.name), escape(f"{item.licence.note} {item.licence.wording}"))
        for item in document.licences
    )
    yield from _table_section("Licence limits", ("component", "licence", "note"), licences)
    yield from _table_section("Left for a person", ("family", "location", "finding", "why"), _left_rows(document))
    decisions = _decision_rows(document, knowledge)
    yield from _table_section("Dependencies", ("family", "dependency", "decision", "route", "why"), decisions)
    edits = ((code(e.path), code(e.recipe), e.safety, str(len(e.findings))) for e in document.edits)
    yield from _table_section("Edits", ("file", "recipe", "safety", "findings"), edits)
    phases = ((str(phase.number), escape(phase.title), escape(phase.state)) for phase in document.phases)
    yield from _table_section("Phases", ("phase", "what", "state"), phases)
    others = ((code(s.id), escape(s.reason), escape(s.would_need)) for s in document.rejected_stacks)
    yield from _table_section("Other stacks, and why not", ("stack", "why not", "what it would need"), others)


def _left_rows(document: Plan) -> Iterator[tuple[str, ...]]:
    reasons = {id(item.finding): item.reason for item in document.left}
    for group in group_by_family(item.finding for item in document.left):
        for item in group.findings:
            yield escape(group.family), code(str(item.location)), finding_text(item), escape(reasons[id(item)])


def _decision_rows(document: Plan, knowledge: Knowledge) -> Iterator[tuple[str, ...]]:
    def family_of(decision: DependencyDecision) -> str:
        package = knowledge.packages.get(decision.package or "")
        return package.family if package else NO_FAMILY

    families = group_by(document.decisions, family_of)

    def blocking(family: str) -> tuple[tuple[int, ...], str]:
        counts = Counter(item.decision for item in families[family])
        return tuple(-counts[word] for word in _DECISION_ORDER), family

    for family in sorted(families, key=blocking):
        for item in sorted(families[family], key=lambda item: _DECISION_ORDER.index(item.decision)):
            route = code(item.route) if item.route else ""
            yield escape(family), code(item.name), item.decision, route, escape(item.reason)


@_lines.register(Verdicts)
def _verdicts(document: Verdicts, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    outcomes = Counter(item.outcome for item in document.verdicts)
    counts = ", ".join(f"{outcomes[word]} {word}" for word in _OUTCOME_ORDER)
    yield f"# Checks of {escape(document.repository)}"
    yield f"\n{counts}. Not run is neither passed nor failed.\n"
    rows = (
        (item.outcome, item.level, code(item.probe), escape(item.detail if item.reason else item.covered))
        for item in sorted(verdict_groups(document.verdicts), key=lambda item: _OUTCOME_ORDER.index(item.outcome))
    )
    yield from table(("outcome", "level", "check", "covered, or why not"), rows)


@_lines.register(Fit)
def _fit(document: Fit, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    verdict = (
        f"**{comparison.RATINGS[document.viability]}**, {document.score} of 5" if document.viability else "**unknown**"
    )
    yield f"# {escape(document.title)} on {escape(document.gpu.title)}"
    yield f"\nKnowledge of {document.as_of}: {verdict}."
    yield from _bullet_section("Why", (f"{p.effect:+d}: {p.why} ({p.source})" for p in document.points))
    modes = ((escape(m.mode), f"{m.gb:g} GB", comparison.memory_text(m), escape(m.source)) for m in document.memory)
    yield from _table_section("Memory", ("mode", "needs", "on this GPU", "source"), modes)
    yield from _bullet_section("How memory was estimated", document.notes)
    yield from _bullet_section("Offload", document.offload)
    yield from _bullet_section("No longer a problem", (f"{p.why} ({p.source})" for p in document.closed))
    yield from _bullet_section("Advice", document.advice)
    if document.licence is not None:
        yield from _bullet_section("Licence", (f"{document.licence.name}. {document.licence.wording}".rstrip(),))
    if document.comparison is not None:
        yield from _comparison(document.comparison)


@_lines.register(BundleCheck)
def _bundle_check(document: BundleCheck, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    yield f"# Evidence in {escape(document.bundle)}"
    yield f"\n{escape(run_text.check_summary(document))}."
    yield from _bullet_section("Changed after sealing", map(run_text.altered_text, document.altered))
    yield from _bullet_section("Stages", (f"{item.stage}: {item.says}" for item in document.stages))
    if document.chains:
        links = run_text.chain_links(document)
        rows = ((code(run), link.link, escape(run_text.link_text(link))) for run, link in links)
        yield from (*section("Chain"), *table(("run", "link", "content"), rows))


@_lines.register(EvidenceDiff)
def _evidence_diff(document: EvidenceDiff, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    yield "# Comparison of two runs"
    yield f"\nA is {code(document.a)}, B is {code(document.b)}. {escape(run_text.diff_summary(document))}."
    yield from _bullet_section("Worse in B", document.worse)
    links = (tuple(map(escape, row)) for row in run_text.link_rows(document))
    yield from (*section("Chain"), *table(("link", "A", "B"), links))
    for name, rows in run_text.differing_sections(document).items():
        cells = (tuple(map(escape, run_text.row_cells(row))) for row in rows)
        yield from _table_section(name.capitalize(), run_text.DIFF_HEADER, cells)


def _comparison(document: Comparison) -> Iterator[str]:
    yield from (*section("CUDA, ROCm or hybrid"), f"{escape(comparison.heading(document))}.", "")
    cells = (tuple(map(escape, row)) for row in comparison.table_rows(document))
    yield from table(tuple(map(escape, comparison.header(document))), cells)
    for choice in document.choices:
        yield from _bullet_section(choice.platform, comparison.pros_and_costs(choice))
    yield from _bullet_section("Conclusion", (document.conclusion,))
    yield from _bullet_section("Notes on the cards", comparison.card_notes(document))
    yield from _bullet_section("Sources", comparison.source_lines(document))


def _bullet_section(title: str, items: Iterable[str]) -> Iterator[str]:
    lines = [f"- {escape(item)}" for item in items]
    yield from (*section(title), *lines) if lines else ()


def _table_section(title: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Nothing if there are no rows."""
    cells = list(rows)
    yield from (*section(title), *table(header, cells)) if cells else ()


def section(title: str) -> tuple[str, ...]:
    """A heading with blank lines around it."""
    return "", f"## {title}", ""


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Cells must be escaped already."""
    yield f"| {' | '.join(header)} |"
    yield "|" + "---|" * len(header)
    yield from (f"| {' | '.join(row)} |" for row in rows)


@_lines.register(Diagnosis)
def _diagnosis(document: Diagnosis, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    plan = f" for {escape(document.plan)}" if document.plan else ""
    yield f"# This machine{plan}"
    summary = document.lacks or console_forms.diagnosis_totals(document)
    yield f"\n{escape(document.machine)}, {escape(document.taken)}. {escape(summary)}.\n"
    yield from (f"- {escape(gpu)}" for gpu in document.gpus)
    for item in document.problems:
        yield from section(f"{item.severity}: {escape(item.title)} ({code(item.id)})")
        yield from (f"- read: {escape(line)}" for line in item.read)
        yield f"\n{escape(item.why)}"
        yield f"\nFor this plan: **{escape(item.for_plan)}**\n" if item.for_plan else ""
        yield from (f"{number}. {escape(line)}" for number, line in enumerate(item.remedy, 1))
        yield f"\nIt {console_forms.remedy_cost(item)}. Check: {escape(item.check)}"
        yield f"\nSources, checked {item.checked}: {'; '.join(escape(source.where) for source in item.sources)}."
    unread = console_forms.unread_by_reason(document).items()
    rows = ((", ".join(map(code, ids)), escape(why)) for why, ids in unread)
    yield from _table_section("Not checked", ("conditions", "why"), rows)
