"""rocm3d plan: choose stack, routes and edits for one GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.plan import Plan
from rocm3d.pipeline import PlanOptions
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 20
EXAMPLE = 'Example: rocm3d plan ./gaussian-splatting --gpu "rx 7900 xtx"'

From = Annotated[
    Path | None, typer.Option("--from", help="Plan from this inventory.json instead of scanning.", dir_okay=False)
]

Lock = Annotated[
    bool,
    typer.Option(
        "--lock", help="Take the first stack on which uv resolves the requirements, and lock their hashes. Network."
    ),
]

Form = Annotated[str, options.format_option(Plan)]


def command(
    session: CliSession,
    path: options.Target,
    gpu: options.Gpu = None,
    stack: options.Stack = None,
    rocm: options.Rocm = "",
    prefer: options.Prefer = "stable",
    platform: options.PlatformName = "linux",
    keep_torch: options.KeepTorch = False,
    python: options.Python = None,
    licence_policy: options.LicencePolicy = None,
    source: From = None,
    lock: Lock = False,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> ExitCode:
    """Choose the stack, a route for every dependency, and the edits, with reasons and rejected alternatives.

    Changes no file of the repository. Exit code 1 if no stack supports the GPU, or the licence policy refuses the plan.
    """
    refuse_unknown_format(form, format_names(Plan))
    if lock and session.offline:
        raise UserError("--lock needs the network", hint="leave out --offline")
    inventory = None if source is None else session.read_scan(source, "--from")
    with session.repository(path, work=work) as repository:
        product = session.gpu(gpu, repository)
        installed = repository.installed(product, python, platform) if keep_torch else None
        choices = PlanOptions(stack, rocm, prefer, platform, installed)
        document = repository.plan(product, choices, inventory, lock=lock)
    session.show(document, form, output)
    document.require_licences(session.licence_policy(licence_policy, repository))
    return ExitCode.FINDINGS if document.stack is None else ExitCode.DONE
