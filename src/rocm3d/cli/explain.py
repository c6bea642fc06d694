"""rocm3d explain: show the record of a code, package, GPU or variable."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.knowledge.base import advice_about, find_record
from rocm3d.model.base import Document
from rocm3d.render import explain
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 80
EXAMPLE = "Example: rocm3d explain CU101; rocm3d explain gsplat; rocm3d explain HSA_OVERRIDE_GFX_VERSION"

Word = Annotated[str, typer.Argument(metavar="CODE|PACKAGE|GPU|ENVVAR", help="Any name of the knowledge base.")]
Form = Annotated[str, options.format_option(Document)]


def command(session: CliSession, word: Word, form: Form = "console", output: options.Output = None) -> None:
    """Show everything known about a code, package, GPU, environment variable, stack, family, recipe or advice.

    Includes sources and dates. For a misspelt name the closest names are suggested.
    """
    refuse_unknown_format(form, format_names(Document))
    knowledge = session.load()
    record = find_record(word, knowledge)
    session.write_output(
        explain.render(record, advice_about(record, knowledge))
        if form == "console"
        else record.model_dump_json(indent=2) + "\n",
        output,
    )
