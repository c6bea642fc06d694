"""rocm3d scan: find code and dependencies that need CUDA."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.comma_lists import split_commas
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 10
EXAMPLE = "Example: rocm3d scan ./gaussian-splatting --skip DEP"

Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline", help="Report only findings that are not in this earlier inventory.json.", dir_okay=False
    ),
]
Form = Annotated[str, options.format_option("Scan")]


def command(
    session: CliSession,
    path: options.Target,
    only: options.Only = [],
    skip: options.Skip = [],
    baseline: Baseline = None,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> ExitCode:
    """Find code and dependencies in a repository that need CUDA.

    Read-only: executes nothing of the repository. Exit code 1 if there is an error or a warning; with --baseline only
    new ones count.
    """
    refuse_unknown_format(form, format_names("Scan"))
    # Read before the scan, which may overwrite the file.
    baseline_scan = None if baseline is None else session.read_scan(baseline, "--baseline")
    with session.repository(path, work=work, only=split_commas(only), skip=split_commas(skip)) as opened:
        document = opened.scan(baseline_scan)
    session.show(document, form, output)
    has_problems = any(finding.severity != "note" for finding in document.findings)
    return ExitCode.FINDINGS if has_problems else ExitCode.DONE
