"""Console forms of recorded runs, evidence bundles, and the matrix of repositories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from rocm3d.model.bundle import BundleCheck, BundleReport, EvidenceDiff
from rocm3d.model.counted import counted
from rocm3d.model.inventory import Matrix
from rocm3d.model.run import RunRecord
from rocm3d.render import bundles, run_text
from rocm3d.render.console_forms import document_lines, summary_lines
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from rich.console import RenderableType


@document_lines.register(Matrix)
def _matrix(document: Matrix) -> Iterable[RenderableType]:
    table = Table("package", "family", "used in", "waiting", "unblocks", box=None, pad_edge=False, header_style="bold")
    frees = {step.package: step for step in document.order}
    for row in document.rows:
        step = frees.get(row.package)
        next_free = ", ".join(clean(name) for name in step.frees) if step else ""
        table.add_row(clean(row.package), row.family, str(len(row.states)), str(len(row.waiting)), next_free)
    yield table
    if document.order:
        yield Text(f"order of work: {', '.join(clean(step.package) for step in document.order)}")


@summary_lines.register(Matrix)
def _matrix_closing(document: Matrix) -> Iterable[RenderableType]:
    unblocked, total = len(document.free), len(document.columns)
    yield Text(
        f"{counted(total, 'repository', 'repositories')}, {unblocked} not blocked by a package; "
        f"{counted(len(document.rows), 'package')} in use"
    )


@document_lines.register(RunRecord)
def _run(document: RunRecord) -> Iterable[RenderableType]:
    for label, text in run_text.run_lines(document):
        yield Text.assemble((f"{clean(label):10}", _LABEL_STYLE.get(label, "bold")), f" {clean(text)}")
    for item in document.expectations:
        outcome = ("met       ", "green") if item.met else ("not met   ", "bold red")
        by = f" (expected by {clean(item.source)})" if item.source else ""
        yield Text.assemble(outcome, f" {clean(item.expectation)}: {clean(item.found)}{by}")


_LABEL_STYLE = {"fallback": "yellow", "substitute": "yellow", "missing": "yellow", "module": "dim", "kernel": "dim"}


@summary_lines.register(RunRecord)
def _run_closing(document: RunRecord) -> Iterable[RenderableType]:
    yield Text(clean(run_text.outcome_line(document)))


@document_lines.register(BundleCheck)
def _bundle_check(document: BundleCheck) -> Iterable[RenderableType]:
    yield from (Text(clean(bundles.altered_text(item)), style="bold red") for item in document.altered)
    yield from (Text(f"{item.stage}: {clean(item.says)}") for item in document.stages)
    for run, link in bundles.chain_links(document):
        yield Text(f"{clean(run)}: {link.link}: {clean(bundles.link_text(link))}", style="" if link.there else "yellow")


@summary_lines.register(BundleCheck)
def _bundle_check_closing(document: BundleCheck) -> Iterable[RenderableType]:
    yield Text(clean(bundles.check_summary(document)))


@document_lines.register(EvidenceDiff)
def _evidence_diff(document: EvidenceDiff) -> Iterable[RenderableType]:
    yield Text(f"A: {clean(document.a)}\nB: {clean(document.b)}")
    yield _table(("chain", "A", "B"), bundles.link_rows(document))
    for section, rows in bundles.differing_sections(document):
        yield _table((section, *bundles.HEADER[1:]), map(bundles.row_cells, rows))
    yield from (Text(f"worse: {clean(line)}", style="bold red") for line in document.worse)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    table = Table(*header, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    return table


@summary_lines.register(EvidenceDiff)
def _evidence_diff_closing(document: EvidenceDiff) -> Iterable[RenderableType]:
    yield Text(bundles.diff_summary(document))


@document_lines.register(BundleReport)
def _bundle_report(document: BundleReport) -> Iterable[RenderableType]:
    for item in document.bundle.runs:
        yield from _run(item)
        yield from _run_closing(item)


@summary_lines.register(BundleReport)
def _bundle_report_closing(document: BundleReport) -> Iterable[RenderableType]:
    yield from (Text(clean(bundles.altered_text(item)), style="bold red") for item in document.altered)
    runs, files = counted(len(document.bundle.runs), "run"), counted(len(document.bundle.files), "file")
    yield Text(f"{clean(document.name)}: {runs}, {files}")
