"""rocm3d fit: does a repository fit a GPU, is it viable, and how does the GPU compare with NVIDIA cards."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import UserError
from rocm3d.model.fit import Fit
from rocm3d.pipeline import fit_model, resolve_gpu
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 85
EXAMPLE = "Example: rocm3d fit ./Hunyuan3D-2.1 --gpu mi300x --against h100; rocm3d fit threestudio --gpu gfx1100"

Subject = Annotated[
    str,
    typer.Argument(metavar="PATH|MODEL", help="A checkout's folder, or a known repository; see kb query ports."),
]
AsOf = Annotated[
    datetime | None,
    typer.Option("--as-of", formats=["%Y-%m-%d"], help="Use only facts known at this date. Default: today."),
]
Against = Annotated[
    list[str],
    typer.Option("--against", help="NVIDIA card to compare with; repeatable. Default: the closest in memory size."),
]

Form = Annotated[str, options.format_option(Fit)]


def command(
    session: CliSession,
    subject: Subject,
    gpu: options.Gpu = None,
    against: Against = [],
    as_of: AsOf = None,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> None:
    """Check whether a repository fits a GPU and is viable on it, and compare the GPU with NVIDIA cards.

    Memory and score come from the record of a known repository. For a checkout the dependencies are planned too, and
    their cost on ROCm is compared with CUDA, where they install unchanged. Every number has its source and date.
    """
    refuse_unknown_format(form, format_names(Fit))
    day = None if as_of is None else as_of.date()
    if day is not None and against:
        raise UserError("--as-of and --against cannot be combined", hint="cards are compared by today's facts only")
    path = Path(subject)
    if not _is_checkout(path, subject):
        knowledge = session.load()
        session.show(fit_model(subject, resolve_gpu(gpu, knowledge), knowledge, day, against), form, output)
        return
    with session.repository(path, work=work) as repository:
        if subject.lower() in repository.knowledge.ports:
            session.print_status(f"{subject} is a folder, so the folder is scanned; its record alone is not used")
        document = repository.fit(session.gpu(gpu, repository), day, against)
    session.show(document, form, output)


def _is_checkout(path: Path, subject: str) -> bool:
    """Whether the subject is a folder. Raises UserError for other paths; anything else may be the name of a model."""
    hint = "pass the folder of a checkout, or the name of a known repository"
    try:
        if subject and path.is_dir():
            return True
        exists = bool(subject) and path.exists()
    except OSError as error:
        raise UserError(f"{subject}: {error.strerror}", hint=hint) from error
    if exists:
        raise UserError(f"{subject} is not a folder", hint=hint)
    if len(path.parts) > 1 or subject.startswith((".", "~")):
        raise UserError(f"{subject} does not exist", hint=hint)
    return False
