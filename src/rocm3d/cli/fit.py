"""rocm3d fit: will it fit, and is it viable."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.fit import Fit
from rocm3d.pipeline import fit_model, resolve_gpu

POSITION = 85
EXAMPLE = 'Example: rocm3d fit threestudio --gpu "rx 7900 xtx" --as-of 2025-10-17'

Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A repository the knowledge base knows; see kb query ports.")
]
AsOf = Annotated[
    datetime | None,
    typer.Option("--as-of", formats=["%Y-%m-%d"], help="Use only facts known at this date; left out: today."),
]

Form = Annotated[str, options.form(Fit)]


def command(
    session: Session,
    model: Model,
    gpu: options.Gpu = None,
    as_of: AsOf = None,
    form: Form = "console",
    output: options.Output = None,
) -> None:
    """Tell whether a known repository fits a GPU and is worth trying, every point with its reason and source."""
    knowledge = session.load()
    product = resolve_gpu(gpu, knowledge)
    session.show(fit_model(model, product, knowledge, None if as_of is None else as_of.date()), form, output)
