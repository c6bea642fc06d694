"""rocm3d matrix: many repositories, and which library unlocks most of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit
from rocm3d.model.matrix import Matrix
from rocm3d.pipeline import support_matrix
from rocm3d.render.formats import names, refuse_unknown

POSITION = 70
EXAMPLE = "Example: rocm3d matrix checkouts --format svg --output matrix.svg"

Folders = Annotated[
    list[Path], typer.Argument(metavar="DIR", help="Repositories that were scanned, or folders that hold such.")
]
Form = Annotated[str, options.form(Matrix)]


def command(session: Session, folder: Folders, form: Form = "console", output: options.Output = None) -> Exit:
    """Which library unlocks how many repositories: a map of dependencies, from what scan and plan have written.

    A library takes work where the plan builds, substitutes, stubs or blocks it; where there is no plan, where it is
    named. Scan first, and plan for a GPU to know more: nothing is scanned here.
    """
    refuse_unknown(form, names(Matrix))
    session.show(support_matrix(folder, session.load().packages), form, output)
    return Exit.DONE
