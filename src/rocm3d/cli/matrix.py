"""rocm3d matrix: which library blocks how many repositories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.inventory import Matrix
from rocm3d.pipeline import resolve_gpu, support_matrix
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 70
EXAMPLE = "Example: rocm3d matrix checkouts --format svg --output matrix.svg"

Folders = Annotated[
    list[Path], typer.Argument(metavar="DIR", help="Scanned repositories, or folders that contain them.")
]
Jobs = Annotated[
    bool,
    typer.Option("--jobs", help="First scan and plan every repository, in parallel; continues an interrupted run."),
]
Gpu = Annotated[str | None, typer.Option("--gpu", help="With --jobs: the product or gfx id to plan for.")]
AtOnce = Annotated[
    int | None, typer.Option("--at-once", min=1, help="With --jobs: number of parallel jobs. Default: one per CPU.")
]
Form = Annotated[str, options.format_option(Matrix)]


def command(
    session: CliSession,
    folder: Folders,
    jobs: Jobs = False,
    gpu: Gpu = None,
    at_once: AtOnce = None,
    form: Form = "console",
    output: options.Output = None,
) -> ExitCode:
    """Show which library blocks how many repositories, from their inventories and plans.

    A library needs work in a repository if the plan builds, substitutes, stubs or blocks it; without a plan, if the
    repository depends on it. Scan the repositories first and plan them for a GPU, or use --jobs. Exit code 1 if a
    repository could not be planned with --jobs; the others are shown.
    """
    refuse_unknown_format(form, format_names(Matrix))
    if not jobs and (gpu is not None or at_once is not None):
        raise UserError("--gpu and --at-once need --jobs", hint="existing plans keep the GPU that they were made for")
    failed = _plan_repositories(session, folder, gpu, at_once) if jobs else False
    session.show(support_matrix(folder, session.load().packages), form, output)
    return ExitCode.FINDINGS if failed else ExitCode.DONE


def _plan_repositories(session: CliSession, folders: list[Path], gpu: str | None, at_once: int | None) -> bool:
    """Scan and plan all repositories. Returns whether one of them failed."""
    from rocm3d.cli.jobs import live_table
    from rocm3d.pipeline.jobs import planning_jobs

    campaign = planning_jobs(folders, resolve_gpu(gpu, session.load()).product, at_once)
    with live_table(session) as watch:
        document = campaign.run(watch)
    for job in document.jobs:
        if job.state != "done":
            session.print_status(f"{job.id} was not planned: {job.reason}; see {job.log}")
    return document.has_failures
