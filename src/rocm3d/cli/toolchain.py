"""rocm3d toolchain: show the compilers for AMD targets, or assemble one from wheels."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.toolchain import Toolchains
from rocm3d.pipeline import find_toolchains, prepare_toolchain
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 95
EXAMPLE = "Example: pip install 'rocm3d[compile]' && rocm3d toolchain prepare"

Action = Annotated[Literal["show", "prepare"], typer.Argument(help="Show the compilers, or assemble one.")]
Form = Annotated[str, options.format_option(Toolchains)]


def command(
    session: CliSession, action: Action = "show", form: Form = "console", output: options.Output = None
) -> ExitCode:
    """Show the compilers for AMD targets on this machine, or assemble one from public wheels.

    `prepare` prints the size, then downloads to the cache of rocm3d; it installs nothing. The compiler is for checking
    that code compiles; its output is never shipped. Exit code 4 if no compiler is usable.
    """
    refuse_unknown_format(form, format_names(Toolchains))
    knowledge = session.load()
    if action == "prepare":
        if session.offline:
            raise UserError("toolchain prepare needs the network, but --offline is set")
        prepare_toolchain(knowledge, session.print_status)
    document = find_toolchains(knowledge)
    session.show(document, form, output)
    return ExitCode.DONE if any(not item.lacks for item in document.found) else ExitCode.MACHINE
