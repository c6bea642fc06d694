"""rocm3d explain: everything known about one thing."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.knowledge.find import about, find
from rocm3d.model.failure import UserError
from rocm3d.render import explain

POSITION = 80
EXAMPLE = "Example: rocm3d explain CU101; rocm3d explain gsplat; rocm3d explain HSA_OVERRIDE_GFX_VERSION"

Word = Annotated[str, typer.Argument(metavar="CODE|PACKAGE|GPU|ENVVAR", help="Any name of the knowledge base.")]


def command(session: Session, word: Word, form: options.Format = "console", output: options.Output = None) -> None:
    """Tell everything known about a code, package, GPU, environment variable, stack, family, recipe or advice.

    With sources and dates. A misspelt name gives the nearest ones.
    """
    knowledge = session.load()
    record = find(word, knowledge)
    if form not in ("console", "json"):
        raise UserError(f"--format {form} is not known here", hint="use console or json")
    session.put(
        explain.render(record, about(record, knowledge))
        if form == "console"
        else record.model_dump_json(indent=2) + "\n",
        output,
    )
