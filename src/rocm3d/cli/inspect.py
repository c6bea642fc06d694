"""rocm3d inspect: which GPU targets a binary contains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode
from rocm3d.model.toolchain import Inspection
from rocm3d.pipeline import inspect
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 96
EXAMPLE = "Example: rocm3d inspect dist/my_extension-1.0-cp312-cp312-linux_x86_64.whl --expect gfx942"

File = Annotated[Path, typer.Argument(metavar="FILE", help="A .so, .o, .hsaco or .whl.")]
Expect = Annotated[list[str], typer.Option("--expect", help="A gfx id that the binary must contain; repeatable.")]
Form = Annotated[str, options.format_option(Inspection)]


def command(
    session: CliSession, file: File, expect: Expect = [], form: Form = "console", output: options.Output = None
) -> ExitCode:
    """Show which gfx and sm_ targets a binary contains, and detect builds that silently became CPU-only.

    Nothing is loaded or run. Exit code 1 if a target of --expect is missing.
    """
    refuse_unknown_format(form, format_names(Inspection))
    document = inspect(file)
    session.show(document, form, output)
    missing = [gfx for gfx in expect if gfx not in document.gfx]
    if missing:
        session.print_status(f"missing targets: {', '.join(missing)}")
    return ExitCode.FINDINGS if missing else ExitCode.DONE
