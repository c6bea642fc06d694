"""rocm3d smoke: try out the GPU of this machine with the libraries of an environment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit
from rocm3d.model.look import Smoke
from rocm3d.pipeline import smoke
from rocm3d.render.formats import names, refuse_unknown

POSITION = 97
EXAMPLE = "Example: rocm3d smoke attention gsplat --python ./venv/bin/python"

Families = Annotated[
    list[str], typer.Argument(metavar="FAMILY", help="Suites or packages; left out: all. See kb query suites.")
]
Python = Annotated[
    Path | None,
    typer.Option(
        "--python", help="The interpreter that has them; left out: ./.venv, then $VIRTUAL_ENV.", dir_okay=False
    ),
]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="The limit of each look; kernels may compile first.")]
Form = Annotated[str, options.form(Smoke)]


def command(
    session: Session,
    family: Families = [],
    python: Python = None,
    seconds: Seconds = 300,
    form: Form = "console",
    output: options.Output = None,
) -> Exit:
    """Run the operation that each core library exists for on the GPU of this machine, and see what really ran.

    AMD or NVIDIA. Each look is a process of its own, against a reference. Exit code 1 if anything is broken or only a
    slow path runs, else 4 if nothing could be tried, or nothing of a family that was named.
    """
    refuse_unknown(form, names(Smoke))
    with session.progress("looking at") as tell:
        document = smoke(family, python, session.load(), tell, seconds)
    session.show(document, form, output)
    if any(look.outcome in ("broken", "fallback") for look in document.looks):
        return Exit.FINDINGS
    ran = [any(look.outcome == "accelerated" for look in suite.looks) for suite in document.suites]
    return Exit.DONE if (all(ran) if family else any(ran)) else Exit.MACHINE
