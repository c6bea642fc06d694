"""rocm3d review: read the edits of a port one by one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.pipeline import open_review
from rocm3d.render import review_text

if TYPE_CHECKING:
    from rocm3d.apply.review_units import ReviewUnit
    from rocm3d.pipeline.review import Review

POSITION = 35
EXAMPLE = "Example: rocm3d review ./gaussian-splatting-rocm"

Again = Annotated[bool, typer.Option("--again", help="Show also the edits that you answered before.")]


def command(session: CliSession, path: options.Target, again: Again = False, work: options.Work = None) -> ExitCode:
    """Read the edits of a port that somebody should check, one by one, each with its diff, reason and proof.

    yes keeps the edit, no takes it out of the port, explain shows the rule, quit ends; the next review continues there.
    Edits that depend on each other are one. After a no the rest is proven again; a later apply leaves the edit out.
    Without a terminal the open edits are listed. Exit code 1 if edits are open.
    """
    with session.repository(path, work=work, spinner=False) as repository:
        review = open_review(repository, again=again)
        if not sys.stdin.isatty():
            units = review.open_units()
            session.write_output("".join(f"{review_text.unit_line(unit)}\n" for unit in units), None)
            if units:
                session.print_status(f"open: {len(units)}. Review them on a terminal: rocm3d review {path}")
        else:
            _walk(session, review)
            units = review.open_units()
    return ExitCode.FINDINGS if units else ExitCode.DONE


def _walk(session: CliSession, review: Review) -> None:
    review.complete()
    confirmed, left_out, number = 0, 0, 0
    refused: set[object] = set()
    while unit := next((item for item in review.open_units() if item.key not in refused), None):
        number += 1
        answer = _read_answer(session, review, unit, number)
        if answer == "quit":
            break
        if answer == "yes":
            review.keep(unit)
            confirmed += 1
            continue
        try:
            review.leave_out(unit)
            left_out += 1
        except UserError as error:
            session.print_status(f"{error.message}\n  hint: {error.hint}" if error.hint else error.message)
            refused.add(unit.key)
    if left_out:
        review.finish()
    session.print_status(review_text.outcome_text(confirmed, left_out, len(review.open_units())))


def _read_answer(session: CliSession, review: Review, unit: ReviewUnit, number: int) -> str:
    """yes, no or quit."""
    knowledge = review.repository.knowledge
    total = number - 1 + len(review.open_units())
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    text = review_text.unit_text(unit, f"Edit {number} of {total}", knowledge, colour=colour)
    session.write_output(f"{text}\n", None)
    question = "Keep this edit?" if unit.is_made else "Make this edit?"
    while True:
        typer.echo(f"{question} yes, no, explain, quit: ", nl=False)
        line = sys.stdin.readline()
        answer = line.strip().lower()
        if not line or answer in ("q", "quit"):
            return "quit"
        if answer in ("y", "yes"):
            return "yes"
        if answer in ("n", "no"):
            return "no"
        if answer in ("e", "explain"):
            session.write_output(review_text.unit_explanation(unit, knowledge) + "\n", None)
