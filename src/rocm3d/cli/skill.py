"""rocm3d skill: write the agent skill."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli.help import help_texts
from rocm3d.cli.session import Session
from rocm3d.model.failure import UserError
from rocm3d.pipeline import write_skill

POSITION = 95
EXAMPLE = "Example: rocm3d skill ~/.agents/skills/rocm3d-port"

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder to write; new, or an earlier one of ours.", file_okay=False)
]


def command(session: Session, folder: Folder) -> None:
    """Write the agent skill - SKILL.md, references and evals - from the knowledge base and these commands.

    A folder with anything but an earlier skill of ours in it is left alone.
    """
    from rocm3d.cli.main import build

    try:
        others = write_skill(folder, session.load(), help_texts(build()))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error
    for name in others:
        session.say(f"not of this skill, left as it is: {name}")
    session.say(f"the skill is in {folder}")
