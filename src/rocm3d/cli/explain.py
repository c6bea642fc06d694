"""rocm3d explain: everything known about one thing."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.knowledge.find import find
from rocm3d.model.failure import UserError
from rocm3d.render import explain

POSITION = 80
EXAMPLE = "Example: rocm3d explain CU101; rocm3d explain gsplat; rocm3d explain mi300x"

Word = Annotated[str, typer.Argument(metavar="CODE|PACKAGE|GPU", help="A code, rule, package, GPU, stack or recipe.")]


def command(session: Session, word: Word, form: options.Format = "console", output: options.Output = None) -> None:
    """Tell everything known about a code, package, GPU, stack, family or recipe, with sources and dates."""
    record = find(word, session.load())
    if form not in ("console", "json"):
        raise UserError(f"--format {form} is not known here", hint="use console or json")
    session.put(explain.render(record) if form == "console" else record.model_dump_json(indent=2) + "\n", output)
