"""rocm3d smoke: run backend checks on the GPU of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.backend_check import Smoke
from rocm3d.model.errors import ExitCode
from rocm3d.pipeline import smoke
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 97
EXAMPLE = "Example: rocm3d smoke attention gsplat --python ./venv/bin/python"

Families = Annotated[
    list[str], typer.Argument(metavar="FAMILY", help="Suites or packages. Default: all. See rocm3d kb query suites.")
]
Python = Annotated[
    Path | None,
    typer.Option(
        "--python",
        help="Python that has the packages. Default: $VIRTUAL_ENV, unless it is in this folder.",
        dir_okay=False,
        callback=options.absolute_path,
    ),
]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="Time limit per check; kernels may compile first.")]
Form = Annotated[str, options.format_option(Smoke)]


def command(
    session: CliSession,
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
    with session.progress("checking") as progress:
        document = smoke(family, python, session.load(), progress, seconds)
    session.show(document, form, output)
    if any(check.outcome in ("broken", "fallback") for check in document.backend_checks):
        return ExitCode.FINDINGS
    has_accelerated = [any(check.outcome == "accelerated" for check in suite.looks) for suite in document.suites]
    return ExitCode.DONE if (all(has_accelerated) if family else any(has_accelerated)) else ExitCode.MACHINE
