"""Check, query and count the records of the knowledge base."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.pipeline import check_knowledge

POSITION = 90
EXAMPLE = "Example: rocm3d kb query packages gaussian"
KINDS = (
    "advice", "backends", "cards", "codes", "distributions", "families", "host", "indexes", "packages", "ports",
    "recipes", "stacks", "suites", "targets", "tolerances", "variables", "wheels",
)  # fmt: skip

Kind = Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.")]
Text = Annotated[str, typer.Argument(help="Only records that contain this text. Default: all.")]


def check(session: CliSession) -> ExitCode:
    """Validate all records and the references between them. Exit code 1 if there are problems."""
    knowledge = session.load()
    problems = check_knowledge(knowledge, session.knowledge)
    for problem in problems:
        session.write_output(f"{problem}\n", None)
    session.print_status(
        f"{sum(_record_counts(knowledge).values())} records of {knowledge.date}; problems: {len(problems)}"
    )
    return ExitCode.FINDINGS if problems else ExitCode.DONE


def query(session: CliSession, kind: Kind, text: Text = "", output: options.Output = None) -> None:
    """Print the records of a kind as JSON."""
    if kind not in KINDS:
        raise UserError(f"unknown kind of records {kind!r}", hint=suggestion(kind, KINDS))
    records = getattr(session.load(), kind)
    matches = {
        name: record.model_dump(mode="json")
        for name, record in records.items()
        if text.lower() in record.model_dump_json().lower()
    }
    session.write_output(json.dumps(matches, indent=2) + "\n", output)


def stats(session: CliSession) -> None:
    """Count the records of each kind, active and planned."""
    knowledge = session.load()
    for kind, count in _record_counts(knowledge).items():
        planned = sum(getattr(r, "status", "") == "planned" for r in getattr(knowledge, kind).values())
        session.write_output(f"{kind:10} {count - planned:5} active, {planned} planned\n", None)
    session.write_output(f"knowledge of {knowledge.date}\n", None)


def _record_counts(knowledge: Knowledge) -> dict[str, int]:
    return {kind: len(getattr(knowledge, kind)) for kind in KINDS}


COMMANDS = (check, query, stats)
