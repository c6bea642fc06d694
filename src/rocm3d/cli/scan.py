"""rocm3d scan: what is CUDA-first in a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.cli.words import parted
from rocm3d.model.failure import Exit
from rocm3d.render.formats import names, refuse_unknown

POSITION = 10
EXAMPLE = "Example: rocm3d scan ./gaussian-splatting --skip DEP"

Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", help="Report only what this earlier inventory.json does not hold.", dir_okay=False),
]
Form = Annotated[str, options.form("Scan")]


def command(
    session: Session,
    path: options.Target,
    only: options.Only = [],
    skip: options.Skip = [],
    baseline: Baseline = None,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> Exit:
    """Find what is CUDA-first in a repository, where, and which family it belongs to.

    Reads only; nothing of the repository is executed. Exit code 1 if there is any error or warning,
    with --baseline any new one.
    """
    refuse_unknown(form, names("Scan"))
    # Read before the scan, which may write to the same place.
    known = None if baseline is None else session.read_scan(baseline, "--baseline")
    with session.opened(path, work=work, only=parted(only), skip=parted(skip)) as opened:
        document = opened.scan(known)
    session.show(document, form, output)
    serious = any(finding.severity != "note" for finding in document.findings)
    return Exit.FINDINGS if serious else Exit.DONE
