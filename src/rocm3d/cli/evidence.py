"""Bundles of evidence: has one changed since it was sealed, and how do two runs differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit
from rocm3d.render.formats import names, refuse_unknown

POSITION = 75
EXAMPLE = "Example: rocm3d evidence diff runs/cuda runs/rocm --format markdown"

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A bundle.", file_okay=False)]
Digest = Annotated[
    str, typer.Option("--digest", help="The sha256 that you were told: shows even a bundle that was made anew.")
]
First = Annotated[Path, typer.Argument(metavar="A", help="A bundle, or the run.json of a run.")]
Second = Annotated[Path, typer.Argument(metavar="B", help="The one to compare with it.")]
Run = Annotated[str, typer.Option("--run", help="The name of the run to compare, where a bundle holds several.")]
CheckForm = Annotated[str, options.form("BundleCheck")]
DiffForm = Annotated[str, options.form("EvidenceDiff")]


def check(
    session: Session, folder: Folder, digest: Digest = "", form: CheckForm = "console", output: options.Output = None
) -> Exit:
    """Tell whether a bundle is still what was sealed, and which links of its chain are missing.

    Exit code 1 if a file was changed, removed or added; 2 if it is no bundle, a half-written one, or of a newer schema.
    """
    from rocm3d.pipeline import check_bundle

    refuse_unknown(form, names("BundleCheck"))
    document = check_bundle(folder, digest)
    session.show(document, form, output)
    return Exit.FINDINGS if document.altered else Exit.DONE


def diff(
    session: Session,
    a: First,
    b: Second,
    run: Run = "",
    form: DiffForm = "console",
    output: options.Output = None,
) -> Exit:
    """Compare two runs: machine, backends, time, memory, artifacts, numbers and profile.

    Exit code 1 if B lacks a link of the chain that A has, or failed where A did not. Other differences are told and
    judged by nobody: a slower run is not a wrong one.
    """
    from rocm3d.pipeline import compare_bundles

    refuse_unknown(form, names("EvidenceDiff"))
    document = compare_bundles(a, b, run)
    session.show(document, form, output)
    return Exit.FINDINGS if document.worse else Exit.DONE


COMMANDS = (check, diff)
