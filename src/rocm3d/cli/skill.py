"""rocm3d skill: write the agent skill."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli.help import help_texts
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit, UserError
from rocm3d.pipeline import check_skill, write_skill
from rocm3d.render.cleaning import clean

POSITION = 95
EXAMPLE = "Example: rocm3d skill ~/.agents/skills/rocm3d-port"

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder to write; new, or an earlier one of ours.", file_okay=False)
]

Check = Annotated[
    bool, typer.Option("--check", help="Write nothing; say what in the skill no longer fits this rocm3d.")
]


def command(session: Session, folder: Folder, check: Check = False) -> Exit:
    """Write the agent skill - SKILL.md, references and evals - from the knowledge base and these commands.

    A folder with anything but an earlier skill of ours in it is left alone. With --check it is only read: structure,
    links, and whether every command and option that it names is there; exit code 1 if something is wrong.
    """
    from rocm3d.cli.main import build

    if check:
        return _check(session, folder, help_texts(build()))
    try:
        others = write_skill(folder, session.load(), help_texts(build()))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error
    for name in others:
        session.say(f"not of this skill, left as it is: {name}")
    session.say(f"the skill is in {folder}")
    return Exit.DONE


def _check(session: Session, folder: Path, commands: dict[str, str]) -> Exit:
    found = check_skill(folder, commands)
    for problem in found:
        session.put(f"{clean(problem)}\n", None)
    session.say(f"{len(found)} problems in {folder}")
    return Exit.FINDINGS if found else Exit.DONE
