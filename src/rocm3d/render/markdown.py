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
from rocm3d.render import bundles, comparison, doctor_forms
from rocm3d.render.grouping import NO_FAMILY, group_by_family, severity_counts
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.knowledge.base import Knowledge
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
    yield ""
    yield f"Readiness: **{inventory.readiness}** ({escape('; '.join(inventory.reasons))})."
    yield f"In {counted(inventory.counts.files, 'file')}: {counts}{known}."
    for group in group_by_family(document.findings):
        yield from section(f"{escape(group.family)}: {group.counts}")
        rows = (
            (
                item.severity,
                code(str(item.location)),
                f"{escape(item.code)} {escape(item.rule)}: {escape(item.message)}",
                escape(item.hint),
            )
            for item in group.findings
        )
        yield from table(("severity", "location", "finding", "what to do"), rows)
    if inventory.skipped:
        yield from section("Not read or not fully parsed")
        yield from table(("file", "why"), ((code(item.path), escape(item.reason)) for item in inventory.skipped))


@_lines.register(Plan)
def _plan(document: Plan, knowledge: Knowledge) -> Iterator[str]:
    gpu, stack = document.gpu, document.stack
    base = f"{code(stack.id)} ({escape(stack.reason)})" if stack else f"none for {document.platform}"
    yield f"# Plan for {escape(document.repository)} on {escape(gpu.title)}"
    yield ""
    yield f"Readiness: **{document.readiness}**. GPU: {code(gpu.gfx)}, waves of {gpu.wave_size} lanes. Stack: {base}."
    yield from (f"\nWarning: {escape(warning)}" for warning in document.warnings)
    yield f"\nEffort by finding: {document.effort}."
    if document.licences:
        yield from section("Licence limits")
        yield from table(("component", "licence", "note"), _licence_rows(document))
    if document.left:
        yield from section("Left for a person")
        yield from table(("family", "location", "finding", "why"), _left_rows(document))
    if document.decisions:
        yield from section("Dependencies")
        yield from table(("family", "dependency", "decision", "route", "why"), _decision_rows(document, knowledge))
    if document.edits:
        yield from section("Edits")
        rows = ((code(e.path), code(e.recipe), e.safety, str(len(e.findings))) for e in document.edits)
        yield from table(("file", "recipe", "safety", "findings"), rows)
    if document.phases:
        yield from section("Phases")
        yield from table(("phase", "what", "state"), _phase_rows(document))
    if document.rejected_stacks:
        yield from section("Other stacks, and why not")
        others = ((code(s.id), escape(s.reason), escape(s.would_need)) for s in document.rejected_stacks)
        yield from table(("stack", "why not", "what it would need"), others)


def _licence_rows(document: Plan) -> Iterator[tuple[str, ...]]:
    for item in document.licences:
        about = f"{item.licence.note} {item.licence.wording}".strip()
        yield escape(item.package), escape(item.licence.name), escape(about)


def _phase_rows(document: Plan) -> Iterator[tuple[str, ...]]:
    for phase in document.phases:
        yield str(phase.number), escape(phase.title), escape(phase.state)


def _left_rows(document: Plan) -> Iterator[tuple[str, ...]]:
    reasons = {id(item.finding): item.reason for item in document.left}
    for group in group_by_family(item.finding for item in document.left):
        for item in group.findings:
            about = f"{escape(item.code)} {escape(item.rule)}: {escape(item.message)}"
            yield escape(group.family), code(str(item.location)), about, escape(reasons[id(item)])


def _decision_rows(document: Plan, knowledge: Knowledge) -> Iterator[tuple[str, ...]]:
    families: dict[str, list[DependencyDecision]] = {}
    for item in document.decisions:
        package = knowledge.packages.get(item.package or "")
        families.setdefault(package.family if package else NO_FAMILY, []).append(item)

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
    yield f"# Checks of {escape(document.repository)}"
    yield ""
    yield f"{', '.join(f'{outcomes[word]} {word}' for word in _OUTCOME_ORDER)}. Not run is neither passed nor failed."
    yield ""
    rows = (
        (item.outcome, item.level, code(item.probe), escape(item.reason or ", ".join(item.looked_at)))
        for item in sorted(document.verdicts, key=lambda item: _OUTCOME_ORDER.index(item.outcome))
    )
    yield from table(("outcome", "level", "check", "covered, or why not"), rows)


@_lines.register(Fit)
def _fit(document: Fit, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    verdict = (
        f"**{comparison.RATINGS[document.viability]}**, {document.score} of 5" if document.viability else "**unknown**"
    )
    yield f"# {escape(document.title)} on {escape(document.gpu.title)}"
    yield ""
    yield f"Knowledge of {document.as_of}: {verdict}."
    yield from _bullet_section("Why", (f"{p.effect:+d}: {p.why} ({p.source})" for p in document.points))
    if document.memory:
        yield from section("Memory")
        modes = ((escape(m.mode), f"{m.gb:g} GB", comparison.memory_text(m), escape(m.source)) for m in document.memory)
        yield from table(("mode", "needs", "on this GPU", "source"), modes)
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
    yield ""
    yield f"{escape(bundles.check_summary(document))}."
    yield from _bullet_section("Changed after sealing", map(bundles.altered_text, document.altered))
    yield from _bullet_section("Stages", (f"{item.stage}: {item.says}" for item in document.stages))
    if document.chains:
        yield from section("Chain")
        rows = ((code(run), link.link, escape(bundles.link_text(link))) for run, link in bundles.chain_links(document))
        yield from table(("run", "link", "content"), rows)


@_lines.register(EvidenceDiff)
def _evidence_diff(document: EvidenceDiff, knowledge: Knowledge) -> Iterator[str]:  # noqa: ARG001
    yield "# Comparison of two runs"
    yield ""
    yield f"A is {code(document.a)}, B is {code(document.b)}. {escape(bundles.diff_summary(document))}."
    yield from _bullet_section("Worse in B", document.worse)
    yield from section("Chain")
    links = (tuple(map(escape, row)) for row in bundles.link_rows(document))
    yield from table(("link", "A", "B"), links)
    for name, rows in bundles.differing_sections(document):
        yield from section(name.capitalize())
        yield from table(bundles.HEADER, (tuple(map(escape, bundles.row_cells(row))) for row in rows))


def _comparison(document: Comparison) -> Iterator[str]:
    yield from section("CUDA, ROCm or hybrid")
    yield f"{escape(comparison.heading(document))}."
    yield ""
    cells = (tuple(escape(cell) for cell in row) for row in comparison.table_rows(document))
    yield from table(tuple(escape(cell) for cell in comparison.header(document)), cells)
    for choice in document.choices:
        yield from _bullet_section(choice.platform, comparison.pros_and_costs(choice))
    yield from _bullet_section("Conclusion", (document.conclusion,))
    yield from _bullet_section("Notes on the cards", comparison.card_notes(document))
    yield from _bullet_section("Sources", comparison.source_lines(document))


def _bullet_section(title: str, items: Iterable[str]) -> Iterator[str]:
    lines = list(items)
    if lines:
        yield from section(title)
        yield from (f"- {escape(item)}" for item in lines)


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
    summary = document.lacks or doctor_forms.totals(document)
    yield f"\n{escape(document.machine)}, {escape(document.taken)}. {escape(summary)}."
    yield ""
    yield from (f"- {escape(gpu)}" for gpu in document.gpus)
    for item in document.problems:
        yield from section(f"{item.severity}: {escape(item.title)} ({code(item.id)})")
        yield from (f"- read: {escape(line)}" for line in item.read)
        yield f"\n{escape(item.why)}"
        yield from ([f"\nFor this plan: **{escape(item.for_plan)}**"] if item.for_plan else [])
        yield ""
        yield from (f"{number}. {escape(line)}" for number, line in enumerate(item.remedy, 1))
        yield f"\nIt {doctor_forms.remedy_cost(item)}. Check: {escape(item.check)}"
        yield f"\nSources, checked {item.checked}: {'; '.join(escape(source.where) for source in item.sources)}."
    if document.unread:
        yield from section("Not checked")
        rows = (
            (", ".join(map(code, ids)), escape(why)) for why, ids in doctor_forms.unread_by_reason(document).items()
        )
        yield from table(("conditions", "why"), rows)
