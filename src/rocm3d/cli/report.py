"""rocm3d report: the evidence of a port as a page."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.evidence import Evidence
from rocm3d.model.failure import Exit
from rocm3d.render import html, pr
from rocm3d.render.formats import listed, names, refuse_unknown

POSITION = 70
EXAMPLE = "Example: rocm3d report ./gaussian-splatting-rocm --output report.html"

FORMS = ("html", "pr", *names(Evidence))
Form = Annotated[str, typer.Option("--format", help=f"{listed(FORMS)}.")]


def command(
    session: Session,
    path: options.Target,
    form: Form = "html",
    output: options.Output = None,
    work: options.Work = None,
) -> Exit:
    """Write the evidence of a port as one self-contained page, as the text of a pull request, or as JSON.

    Exit code 1 if a document is no longer what was sealed.
    """
    refuse_unknown(form, FORMS)
    with session.repository(path, work=work) as repository:
        report, knowledge = repository.report(), repository.knowledge
        place = output or repository.documents.folder / "report.html"
    if form == "html":
        session.put(html.render(report), place)
        session.put(f"{place}\n", None)
    elif form == "pr":
        session.put(pr.render(report, knowledge), output)
    else:
        session.show(report.evidence, form, output)
    for name in report.moved:
        session.say(f"no longer what was sealed: {name}")
    return Exit.FINDINGS if report.moved else Exit.DONE
