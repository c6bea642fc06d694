"""Console forms: for each kind of document its lines and its summary. Those of a port are in `console`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import singledispatch
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from rocm3d.model.backend_check import BackendCheck, ComparedTensor, GoldenComparison, NumericCheck, Smoke
from rocm3d.model.bundle import BundleCheck, BundleReport, EvidenceDiff
from rocm3d.model.condition import Diagnosis, Problem
from rocm3d.model.counted import counted
from rocm3d.model.inventory import Matrix
from rocm3d.model.run import RunRecord
from rocm3d.model.toolchain import Inspection, Toolchains
from rocm3d.model.upstream import Drafts, Ledger
from rocm3d.render import run_text
from rocm3d.render.grouping import SEVERITIES, group_by
from rocm3d.render.rungs import current_rung
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rocm3d.model.base import Document

SEVERITY_STYLE = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_BACKEND_STYLE = {
    "accelerated": "green",
    "fallback": "bold red",
    "broken": "bold red",
    "absent": "dim",
    "not_run": "yellow",
}
_DEVICE_TEXT = {
    "amd": "AMD device code",
    "cuda": "CUDA device code only",
    "amd and cuda": "AMD and CUDA device code",
    "none": "no device code: CPU only",
    "unknown": "device code in an unknown format",
}
_FIX_STYLE = {"open": "yellow", "merged": "green", "refused": "bold red"}
_LABEL_STYLE = {"fallback": "yellow", "substitute": "yellow", "missing": "yellow", "module": "dim", "kernel": "dim"}


@singledispatch
def document_lines(document: Document) -> Iterable[RenderableType]:
    """The content of the document."""
    raise TypeError(f"no console form for {type(document).__name__}")


@singledispatch
def summary_lines(document: Document) -> Iterable[RenderableType]:
    """Counts and outcome."""
    raise TypeError(f"no console summary for {type(document).__name__}")


def table(header: Iterable[str], rows: Iterable[Iterable[str | Text]]) -> Table:
    """Without a frame. Control characters in text are replaced, and nothing in it is taken for markup."""
    drawn = Table(*header, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        drawn.add_row(*(Text(clean(cell)) if isinstance(cell, str) else cell for cell in row))
    return drawn


def remedy_cost(problem: Problem) -> str:
    """Whether the remedy needs root or a reboot."""
    if problem.reboot:
        return "needs root and a reboot"
    return "needs root" if problem.root else "needs no root and no reboot"


def diagnosis_totals(document: Diagnosis) -> str:
    """The counts in one line."""
    severities = Counter(item.severity for item in document.problems)
    counts = ", ".join(counted(severities[word], word) for word in SEVERITIES)
    return (
        f"{counts}; {counted(len(document.fine), 'condition is', 'conditions are')} fine, "
        f"{len(document.unread)} could not be checked, {len(document.elsewhere)} do not apply to this machine"
    )


def unread_by_reason(document: Diagnosis) -> dict[str, list[str]]:
    """Conditions that could not be checked, grouped by reason: one missing interpreter affects many of them."""
    groups = group_by(document.unread, lambda item: item.reason)
    return {reason: [item.id for item in items] for reason, items in groups.items()}


@document_lines.register(Diagnosis)
def _diagnosis(document: Diagnosis) -> Iterable[RenderableType]:
    yield Text(clean(document.machine))
    yield from (Text(f"  {clean(gpu)}") for gpu in document.gpus)
    if document.plan:
        yield Text(f"for {clean(document.plan)}")
    for item in document.problems:
        yield Text.assemble((item.severity, SEVERITY_STYLE[item.severity]), f" {item.id}: {item.title}")
        yield from (Text(f"  read: {clean(line)}", style="dim") for line in item.read)
        yield Text(f"  why: {item.why}")
        if item.for_plan:
            yield Text(f"  for this plan: {clean(item.for_plan)}", style="bold")
        yield from (Text(f"  do: {clean(line)}") for line in item.remedy)
        yield Text(f"  {remedy_cost(item)}; check: {clean(item.check)}")
    for reason, names in unread_by_reason(document).items():
        yield Text.assemble(("not checked: ", "yellow"), f"{', '.join(names)}: {clean(reason)}")


@summary_lines.register(Diagnosis)
def _diagnosis_closing(document: Diagnosis) -> Iterable[RenderableType]:
    yield Text(document.lacks or diagnosis_totals(document))


@document_lines.register(Toolchains)
def _toolchains(document: Toolchains) -> Iterable[RenderableType]:
    for item in document.found:
        if item.lacks:
            yield Text.assemble((f"{item.kind:7} ", "dim"), f"{clean(item.title)}: {clean(item.lacks)}")
            continue
        headers = "" if item.headers == "real" else f"; headers are {item.headers}"
        torch = f"; torch {item.torch} headers" if item.torch else ""
        targets = f"; read back: {', '.join(item.targets)}" if item.targets else ""
        yield Text.assemble((f"{item.kind:7} ", "green"), f"{clean(item.title)}{headers}{torch}{targets}")


@summary_lines.register(Toolchains)
def _toolchains_closing(document: Toolchains) -> Iterable[RenderableType]:
    usable = [item.kind for item in document.found if not item.lacks]
    yield Text(f"selected: {usable[0]}" if usable else "no compiler for AMD targets found")


@document_lines.register(Smoke)
def _smoke(document: Smoke) -> Iterable[RenderableType]:
    for suite in document.suites:
        yield Text.assemble((suite.suite, "bold"), f": {suite.title}")
        for result in suite.looks:
            outcome = (f"{result.outcome:11}", _BACKEND_STYLE.get(result.outcome, ""))
            yield Text.assemble("  ", outcome, f" {result.label}: {clean(backend_summary(result))}")
            yield from (Text(f"    {clean(line)}", style="dim") for line in backend_details(result))


@summary_lines.register(Smoke)
def _smoke_closing(document: Smoke) -> Iterable[RenderableType]:
    outcomes = Counter(str(check.outcome) for check in document.backend_checks)
    yield Text(", ".join(f"{outcomes[outcome]} {outcome}" for outcome in _BACKEND_STYLE))


def backend_summary(result: BackendCheck) -> str:
    """One line: the reason of the outcome, or the evidence that the GPU backend ran."""
    if result.outcome != "accelerated":
        return result.reason
    parts = [result.reason] if result.reason else []
    if result.libraries:
        more = f" and {len(result.libraries) - 1} more" if len(result.libraries) > 1 else ""
        parts.append(f"{PurePath(result.libraries[0]).name}{more}")
    if result.backends:
        parts.append(f"kernels: {', '.join(result.backends)}")
    parts += [f"{len(result.checks)} results agree, largest error {_largest_error(result)}"] if result.checks else []
    return "; ".join(parts)


def _largest_error(result: BackendCheck) -> str:
    """The largest error with its tolerance; checks for equality have none."""
    measured: list[tuple[float, NumericCheck]] = [
        (item.max_error, item) for item in result.checks if item.max_error is not None
    ]
    if not measured:
        return "0"
    error, check = max(measured, key=lambda pair: pair[0])
    return f"{error:.2g} ({check.tolerance})"


def backend_details(result: BackendCheck) -> list[str]:
    """Variants that were tried, and the device."""
    kinds = result.facts.get("kinds")
    lines = [_variant_line(name, tried) for name, tried in kinds.items()] if isinstance(kinds, dict) else []
    device = result.facts.get("device")
    if isinstance(device, str):
        build = f"HIP {result.facts['hip']}" if result.facts.get("hip") else f"CUDA {result.facts.get('cuda')}"
        lines.append(f"{device} ({result.facts.get('architecture')}), {result.facts.get('version')}, {build}")
    return lines


def _variant_line(name: str, attempt: dict[str, object]) -> str:
    if not attempt.get("works"):
        return f"{name}: not available: {attempt.get('reason')}"
    backends = attempt.get("backends")
    return f"{name}: works" + (f", {', '.join(backends)}" if isinstance(backends, (list, tuple)) else "")


@document_lines.register(GoldenComparison)
def _golden(document: GoldenComparison) -> Iterable[RenderableType]:
    for item in document.tensors:
        outcome = ("agrees ", "green") if item.agrees else ("differs", "bold red")
        yield Text.assemble(outcome, f" {clean(item.name)}: {clean(tensor_line(item))}")


@summary_lines.register(GoldenComparison)
def _golden_closing(document: GoldenComparison) -> Iterable[RenderableType]:
    differing = sum(not item.agrees for item in document.tensors)
    yield Text(f"{counted(len(document.tensors), 'tensor')}, {differing} differ")


def tensor_line(tensor: ComparedTensor) -> str:
    """The comparison of one tensor in two recordings."""
    if not tensor.agrees or tensor.max_error is None:
        return tensor.reason or "equal"
    elements = f"{tensor.elements} elements of {tensor.dtype}"
    return f"largest error {tensor.max_error:.3g}, within {tensor.tolerance} ({elements})"


@document_lines.register(Inspection)
def _inspection(document: Inspection) -> Iterable[RenderableType]:
    for item in document.binaries:
        yield Text.assemble((clean(item.path), "bold"), f": {_DEVICE_TEXT[item.device]}")
        for target in item.targets:
            waves = " and ".join(str(size) for size in target.wave_sizes)
            kernels = f"{target.kernels} kernels" + (f", waves of {waves} lanes" if waves else "")
            kernels += f", {target.empty_kernels} empty" if target.empty_kernels else ""
            kernels += f", {target.spilling_kernels} spilling registers" if target.spilling_kernels else ""
            yield Text(f"  {':'.join((target.gfx, *target.features))}: {kernels}")
        if item.cuda:
            yield Text(f"  {' '.join(item.cuda)}")
        requirements = [f"Python {item.python}"] if item.python else []
        requirements += ["torch"] if item.uses_torch else []
        requirements += [] if item.cxx11_abi is None else [f"C++11 ABI {'on' if item.cxx11_abi else 'off'}"]
        requirements += [clean(name) for name in item.libraries]
        if requirements:
            yield Text(f"  requires: {', '.join(requirements)}", style="dim")
        yield from (Text(f"  {clean(note)}", style="yellow") for note in item.notes)


@summary_lines.register(Inspection)
def _inspection_closing(document: Inspection) -> Iterable[RenderableType]:
    targets = f" for {', '.join(document.gfx)}" if document.gfx else ""
    required = f"; requires {', '.join(clean(text) for text in document.requires)}" if document.requires else ""
    yield Text(f"{clean(document.distribution or document.name)}: {_DEVICE_TEXT[document.device]}{targets}{required}")


@document_lines.register(Drafts)
def _drafts(document: Drafts) -> Iterable[RenderableType]:
    for item in document.drafts:
        origin = f" for {clean(item.origin)}" if item.origin else ""
        yield Text.assemble((f"{item.folder}/", "bold"), f" {item.kind}{origin}: {clean(item.title)}")
        counts = f"  checks: {item.passed} passed, {item.failed} failed, {item.not_tested} not tested"
        yield Text(f"{counts}; in the ledger as {item.fix}" if item.fix else counts)


@summary_lines.register(Drafts)
def _drafts_closing(document: Drafts) -> Iterable[RenderableType]:
    yield Text(f"{counted(len(document.drafts), 'draft')}; nothing was sent. Read before-sending.md first.")


@document_lines.register(Ledger)
def _ledger(document: Ledger) -> Iterable[RenderableType]:
    for item in document.fixes:
        waiting = (
            f"{len(item.repositories)}: {clean(', '.join(item.repositories))}" if item.repositories else "none yet"
        )
        yield Text.assemble((f"{item.state:8}", _FIX_STYLE[item.state]), (item.id, "bold"), f" unblocks {waiting}")
        links = clean(", ".join(item.links)) or "no link: not sent yet"
        yield Text(f"  {links} (since {item.first}, changed {item.changed})", style="dim")
        yield from (Text(f"  {clean(text)}", style="dim") for text in (item.what, item.note) if text)


@summary_lines.register(Ledger)
def _ledger_closing(document: Ledger) -> Iterable[RenderableType]:
    states = Counter(str(item.state) for item in document.fixes)
    waiting = {name for item in document.fixes if item.state == "open" for name in item.repositories}
    yield Text(f"{', '.join(f'{states[state]} {state}' for state in _FIX_STYLE)}; waiting repositories: {len(waiting)}")


@document_lines.register(Matrix)
def _matrix(document: Matrix) -> Iterable[RenderableType]:
    frees = {step.package: ", ".join(step.frees) for step in document.order}
    rows = (
        (row.package, row.family, str(len(row.states)), str(len(row.waiting)), frees.get(row.package, ""))
        for row in document.rows
    )
    yield table(("package", "family", "used in", "waiting", "unblocks"), rows)
    states = [(column.repository, current_rung(column.state)) for column in document.columns if column.state]
    if states:
        yield table(("repository", "state of the port"), states)
    if document.order:
        yield Text(f"order of work: {', '.join(clean(step.package) for step in document.order)}")


@summary_lines.register(Matrix)
def _matrix_closing(document: Matrix) -> Iterable[RenderableType]:
    yield Text(
        f"{counted(len(document.columns), 'repository', 'repositories')}, {len(document.free)} not blocked by a "
        f"package; {counted(len(document.rows), 'package')} in use"
    )


@document_lines.register(RunRecord)
def _run(document: RunRecord) -> Iterable[RenderableType]:
    for label, text in run_text.run_lines(document):
        yield Text.assemble((f"{clean(label):10}", _LABEL_STYLE.get(label, "bold")), f" {clean(text)}")
    for item in document.expectations:
        outcome = ("met       ", "green") if item.met else ("not met   ", "bold red")
        by = f" (expected by {clean(item.source)})" if item.source else ""
        yield Text.assemble(outcome, f" {clean(item.expectation)}: {clean(item.found)}{by}")


@summary_lines.register(RunRecord)
def _run_closing(document: RunRecord) -> Iterable[RenderableType]:
    yield Text(clean(run_text.outcome_line(document)))


@document_lines.register(BundleCheck)
def _bundle_check(document: BundleCheck) -> Iterable[RenderableType]:
    yield from (Text(clean(run_text.altered_text(item)), style="bold red") for item in document.altered)
    yield from (Text(f"{item.stage}: {clean(item.says)}") for item in document.stages)
    for run, link in run_text.chain_links(document):
        text = f"{clean(run)}: {link.link}: {clean(run_text.link_text(link))}"
        yield Text(text, style="" if link.there else "yellow")


@summary_lines.register(BundleCheck)
def _bundle_check_closing(document: BundleCheck) -> Iterable[RenderableType]:
    yield Text(clean(run_text.check_summary(document)))


@document_lines.register(EvidenceDiff)
def _evidence_diff(document: EvidenceDiff) -> Iterable[RenderableType]:
    yield Text(f"A: {clean(document.a)}\nB: {clean(document.b)}")
    yield table(("chain", "A", "B"), run_text.link_rows(document))
    for section, rows in run_text.differing_sections(document).items():
        yield table((section, *run_text.DIFF_HEADER[1:]), map(run_text.row_cells, rows))
    yield from (Text(f"worse: {clean(line)}", style="bold red") for line in document.worse)


@summary_lines.register(EvidenceDiff)
def _evidence_diff_closing(document: EvidenceDiff) -> Iterable[RenderableType]:
    yield Text(run_text.diff_summary(document))


@document_lines.register(BundleReport)
def _bundle_report(document: BundleReport) -> Iterable[RenderableType]:
    for item in document.bundle.runs:
        yield from _run(item)
        yield from _run_closing(item)


@summary_lines.register(BundleReport)
def _bundle_report_closing(document: BundleReport) -> Iterable[RenderableType]:
    yield from (Text(clean(run_text.altered_text(item)), style="bold red") for item in document.altered)
    runs, files = counted(len(document.bundle.runs), "run"), counted(len(document.bundle.files), "file")
    yield Text(f"{clean(document.name)}: {runs}, {files}")
