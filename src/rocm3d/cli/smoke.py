"""rocm3d smoke: run backend checks on the GPU of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import ExitCode
from rocm3d.model.look import Smoke
from rocm3d.pipeline import smoke
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 97
EXAMPLE = "Example: rocm3d smoke attention gsplat --python ./venv/bin/python"

Families = Annotated[
    list[str], typer.Argument(metavar="FAMILY", help="Suites or packages. Default: all. See rocm3d kb query suites.")
]
Python = Annotated[
    Path | None,
    typer.Option("--python", help="Python that has the packages. Default: ./.venv, then $VIRTUAL_ENV.", dir_okay=False),
]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="Time limit per check; kernels may compile first.")]
Form = Annotated[str, options.form(Smoke)]


def command(
    session: Session,
    family: Families = [],
    python: Python = None,
    seconds: Seconds = 300,
    form: Form = "console",
    output: options.Output = None,
) -> ExitCode:
    """Run the main operation of each core library on the GPU of this machine, and check which backend ran.

    AMD or NVIDIA. Each check runs in its own process and compares with a reference. Exit code 1 if a library is broken
    or runs only its slow path; 4 if nothing could be checked, or nothing in one of the named families.
    """
    refuse_unknown_format(form, format_names(Smoke))
    with session.progress("checking") as tell:
        document = smoke(family, python, session.load(), tell, seconds)
    session.show(document, form, output)
    if any(look.outcome in ("broken", "fallback") for look in document.backend_checks):
        return ExitCode.FINDINGS
    ran = [any(look.outcome == "accelerated" for look in suite.looks) for suite in document.suites]
    return ExitCode.DONE if (all(ran) if family else any(ran)) else ExitCode.MACHINE
