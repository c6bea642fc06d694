"""rocm3d plan: what to do about each finding and dependency on one GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit
from rocm3d.model.plan import Plan
from rocm3d.pipeline import resolve_gpu
from rocm3d.render.formats import names, refuse_unknown

POSITION = 20
EXAMPLE = 'Example: rocm3d plan ./gaussian-splatting --gpu "rx 7900 xtx"'

From = Annotated[
    Path | None, typer.Option("--from", help="Plan from this inventory.json instead of scanning.", dir_okay=False)
]

Form = Annotated[str, options.form(Plan)]


def command(
    session: Session,
    path: options.Target,
    gpu: options.Gpu = None,
    stack: options.Stack = None,
    source: From = None,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> Exit:
    """Decide stack, route for every dependency, and edits, with reasons and what was turned down.

    Touches no file of the repository. Exit code 1 if no stack serves the GPU.
    """
    refuse_unknown(form, names(Plan))
    inventory = None if source is None else session.read_scan(source, "--from")
    with session.repository(path, work=work) as repository:
        product = resolve_gpu(gpu or session.configuration(path).gpu, repository.knowledge)
        document = repository.plan(product, stack, inventory)
    session.show(document, form, output)
    return Exit.DONE if document.stack is not None else Exit.FINDINGS
