"""rocm3d skill: write or check the agent skill."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli.help import help_texts
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.pipeline import check_skill, write_skill
from rocm3d.render.sanitize import clean

POSITION = 95
EXAMPLE = "Example: rocm3d skill ~/.agents/skills/rocm3d-port"

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder to write: new, or with an earlier skill.", file_okay=False)
]

Check = Annotated[
    bool, typer.Option("--check", help="Write nothing; report what does not match this version of rocm3d.")
]


def command(session: CliSession, folder: Folder, check: Check = False) -> ExitCode:
    """Write the agent skill - SKILL.md, references and evals - from the knowledge base and the commands.

    A folder with other content than an earlier skill is refused. With --check the skill is only read: structure, links,
    and whether all its commands and options exist; exit code 1 if there are problems.
    """
    from rocm3d.cli.main import build

    if check:
        return _check_folder(session, folder, help_texts(build()))
    try:
        foreign_files = write_skill(folder, session.load(), help_texts(build()))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error
    for name in foreign_files:
        session.print_status(f"not part of this skill, not changed: {name}")
    session.print_status(f"the skill is in {folder}")
    return ExitCode.DONE


def _check_folder(session: CliSession, folder: Path, commands: dict[str, str]) -> ExitCode:
    problems = check_skill(folder, commands)
    for problem in problems:
        session.write_output(f"{clean(problem)}\n", None)
    session.print_status(f"{len(problems)} problem{'s' * (len(problems) != 1)} in {folder}")
    return ExitCode.FINDINGS if problems else ExitCode.DONE
