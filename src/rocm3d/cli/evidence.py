"""Check an evidence bundle for alterations, or compare two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 75
EXAMPLE = "Example: rocm3d evidence diff runs/cuda runs/rocm --format markdown"

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="An evidence bundle.", file_okay=False)]
Digest = Annotated[
    str, typer.Option("--digest", help="The expected sha256; detects a bundle that was replaced as a whole.")
]
First = Annotated[Path, typer.Argument(metavar="A", help="A bundle, or the run.json of a run.")]
Second = Annotated[Path, typer.Argument(metavar="B", help="The bundle or run.json to compare with A.")]
Run = Annotated[str, typer.Option("--run", help="The run to compare, if a bundle has several.")]
CheckForm = Annotated[str, options.format_option("BundleCheck")]
DiffForm = Annotated[str, options.format_option("EvidenceDiff")]


def check(
    session: CliSession, folder: Folder, digest: Digest = "", form: CheckForm = "console", output: options.Output = None
) -> ExitCode:
    """Check that a bundle is unaltered, and show which links of its chain of evidence are missing.

    Exit code 1 if a file was changed, removed or added; 2 if DIR is not a bundle, is incomplete, or has a newer schema.
    """
    from rocm3d.pipeline import check_bundle

    refuse_unknown_format(form, format_names("BundleCheck"))
    document = check_bundle(folder, digest)
    session.show(document, form, output)
    return ExitCode.FINDINGS if document.altered else ExitCode.DONE


def diff(
    session: CliSession,
    a: First,
    b: Second,
    run: Run = "",
    form: DiffForm = "console",
    output: options.Output = None,
) -> ExitCode:
    """Compare two runs: machine, backends, time, memory, artifacts, numbers and profile.

    Exit code 1 if B misses a link of the chain of evidence that A has, or failed where A did not. Other differences are
    only listed: a slower run is not a wrong one.
    """
    from rocm3d.pipeline import compare_bundles

    refuse_unknown_format(form, format_names("EvidenceDiff"))
    document = compare_bundles(a, b, run)
    session.show(document, form, output)
    return ExitCode.FINDINGS if document.worse else ExitCode.DONE


COMMANDS = (check, diff)
