"""rocm3d plan: what to do about each finding and dependency on one GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit, UserError
from rocm3d.model.inventory import Scan
from rocm3d.pipeline import resolve_gpu

POSITION = 20
EXAMPLE = 'Example: rocm3d plan ./gaussian-splatting --gpu "rx 7900 xtx"'

From = Annotated[
    Path | None, typer.Option("--from", help="Plan from this inventory.json instead of scanning.", dir_okay=False)
]


def command(
    session: Session,
    path: options.Target,
    gpu: options.Gpu = None,
    stack: options.Stack = None,
    source: From = None,
    form: options.Format = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> Exit:
    """Decide stack, route for every dependency, and edits, with reasons and what was turned down.

    Touches no file of the repository. Exit code 1 if no stack serves the GPU.
    """
    inventory = None if source is None else Scan.from_json(_read(source), str(source))
    with session.repository(path, work=work) as repository:
        product = resolve_gpu(gpu or session.configuration(path).gpu, repository.knowledge)
        document = repository.plan(product, stack, inventory)
    session.show(document, form, output)
    return Exit.DONE if document.stack is not None else Exit.FINDINGS


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--from {path}: {error}") from error
