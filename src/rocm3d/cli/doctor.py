"""rocm3d doctor: find problems of this machine, or of a saved snapshot of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 98
EXAMPLE = "Example: rocm3d doctor --plan ./TRELLIS --save machine.json; rocm3d doctor --from machine.json"

PlanFile = Annotated[
    Path | None, typer.Option("--plan", help="A plan.json, or a planned repository: check the machine for it.")
]
Save = Annotated[
    Path | None, typer.Option("--save", help="Also write the redacted snapshot to this file.", dir_okay=False)
]
From = Annotated[
    Path | None, typer.Option("--from", help="Diagnose this snapshot instead of this machine.", dir_okay=False)
]
Python = Annotated[
    Path | None,
    typer.Option(
        "--python",
        help="Python with torch. Default: $VIRTUAL_ENV, unless it is in this folder.",
        dir_okay=False,
        callback=options.absolute_path,
    ),
]
Form = Annotated[str, options.format_option("Diagnosis")]


def command(
    session: CliSession,
    plan: PlanFile = None,
    save: Save = None,
    source: From = None,
    python: Python = None,
    form: Form = "console",
    output: options.Output = None,
) -> ExitCode:
    """Check this machine for problems with AMD GPUs, the installed torch, and a plan.

    Needs no root and no ROCm, and changes nothing. Each problem is shown with the values that were read, why it
    matters, the exact remedy, whether that needs root or a reboot, and how to check it. Exit code 1 if there are errors
    or warnings; 4 without an AMD GPU.
    """
    from rocm3d.pipeline import examine, read_plan, read_snapshot, save_snapshot, take_snapshot

    refuse_unknown_format(form, format_names("Diagnosis"))
    if source is not None and (save is not None or python is not None):
        other = "--save" if save is not None else "--python"
        raise UserError(f"--from and {other} cannot be combined", hint="--from reads a snapshot that was saved earlier")
    planned = None if plan is None else read_plan(plan)
    knowledge = session.load()
    snapshot = take_snapshot(python, knowledge) if source is None else read_snapshot(source)
    if save is not None:
        save_snapshot(snapshot, save)
    document = examine(snapshot, knowledge, planned)
    session.show(document, form, output)
    if document.lacks:
        return ExitCode.MACHINE
    return ExitCode.FINDINGS if document.faults else ExitCode.DONE
