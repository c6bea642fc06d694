"""rocm3d report: render the evidence of a port or a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession, quoted_path
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.pipeline import bundle_report, is_bundle
from rocm3d.render import html, pull_request, report_text
from rocm3d.render.formats import join_alternatives, refuse_unknown_format

if TYPE_CHECKING:
    from rocm3d.model.bundle import BundleReport
    from rocm3d.render.html import PortReportView

POSITION = 70
EXAMPLE = "Example: rocm3d report ./gaussian-splatting-rocm --output report.html"
REPORT_FILE = "report.html"

REPORT_FORMATS = ("html", "markdown", "json", "pr", "console")
Form = Annotated[str, typer.Option("--format", help=f"{join_alternatives(REPORT_FORMATS)}.")]
Shown = Annotated[
    Path, typer.Argument(metavar="PATH", help="A ported repository, or the bundle of a run.", show_default=False)
]


def command(
    session: CliSession,
    path: Shown,
    form: Form = "html",
    output: options.Output = None,
    work: options.Work = None,
) -> ExitCode:
    """Write the evidence of a port as one self-contained page, as Markdown or JSON, or as the text of a pull request.

    Includes the runs that `rocm3d run` recorded in the ported folder. PATH may also be the bundle of a single run, in
    .rocm3d/runs. Exit code 1 if a document or a bundle was altered after it was sealed.
    """
    refuse_unknown_format(form, REPORT_FORMATS)
    if is_bundle(path):
        return _show_bundle(session, bundle_report(path), form, output)
    with session.repository(path, work=work, any_folder=True) as repository:
        report, knowledge = repository.report(), repository.knowledge
        report_path = output or repository.documents.folder / REPORT_FILE
    if form == "html":
        session.write_output(html.render(report), report_path)
        session.write_output(f"{report_path}\n", None)
    elif form == "pr":
        session.write_output(pull_request.render(report, knowledge), output)
    elif form == "markdown":
        session.write_output(report_text.render(report, knowledge), output)
    elif form == "console":
        state = report.state.for_path(quoted_path(path))
        session.show(report.document.model_copy(update={"state": state}), form, output)
    else:
        session.show(report.document, form, output)
    return _report_altered(session, report)


def _report_altered(session: CliSession, report: PortReportView) -> ExitCode:
    altered = [f"{run.folder}/{file.path}" for run in report.runs for file in run.altered]
    for name in (*report.moved, *altered):
        session.print_status(f"altered after it was sealed: {name}")
    for run in report.unread:
        session.print_status(f"the run in {run.folder} is not shown: {run.reason}")
    return ExitCode.FINDINGS if report.moved or altered else ExitCode.DONE


def _show_bundle(session: CliSession, report: BundleReport, form: str, output: Path | None) -> ExitCode:
    if form == "pr":
        raise UserError(
            f"--format pr needs a port; {report.name} is the bundle of a run", hint="pass the ported repository"
        )
    if form == "html":
        # Not in the folder of the bundle: an added file would count as altered.
        report_path = output or Path(f"{report.name}.html")
        session.write_output(html.render(report), report_path)
        session.write_output(f"{report_path}\n", None)
    elif form == "markdown":
        session.write_output(report_text.render_bundle(report), output)
    else:
        session.show(report, form, output)
    for item in report.altered:
        session.print_status(f"altered after it was sealed: {item.path}")
    return ExitCode.FINDINGS if report.altered else ExitCode.DONE
