"""The ledger of fixes to dependencies: which repositories each fix unblocks, and its state upstream."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.comma_lists import split_commas
from rocm3d.cli.session import CliSession
from rocm3d.model.upstream import FixState, Ledger
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 77
EXAMPLE = "Example: rocm3d ledger mark simple-knn --state merged --link https://github.com/OWNER/NAME/pull/1"

Dependency = Annotated[str, typer.Argument(metavar="NAME", help="The dependency that the fix is for.")]
FixId = Annotated[str, typer.Argument(metavar="FIX", help="The id of a fix, or a prefix of it.")]
State = Annotated[FixState | None, typer.Option("--state", help="The new state; merged and refused need a link.")]
OnlyState = Annotated[FixState | None, typer.Option("--state", help="Only fixes in this state.")]
Link = Annotated[list[str], typer.Option("--link", help="URL of the issue or pull request; repeatable.")]
Unblocks = Annotated[
    list[str], typer.Option("--unblocks", help="Add a repository that needs the fix: a,b or repeated.")
]
What = Annotated[str, typer.Option("--what", help="What the fix does, in one line.")]
Note = Annotated[str, typer.Option("--note", help="Further information, such as why it was refused.")]
Form = Annotated[str, options.format_option(Ledger)]


def show(
    session: CliSession,
    state: OnlyState = None,
    ledger: options.LedgerFile = None,
    form: Form = "console",
    output: options.Output = None,
) -> None:
    """Show the fixes: open ones first, sorted by the number of repositories that need them."""
    from rocm3d.pipeline import LedgerFile

    refuse_unknown_format(form, format_names(Ledger))
    document = LedgerFile.open(ledger, session.print_status).read()
    fixes = tuple(fix for fix in document.fixes if state in (None, fix.state))
    session.show(document.model_copy(update={"fixes": fixes}), form, output)


def add(
    session: CliSession,
    name: Dependency,
    unblocks: Unblocks = [],
    what: What = "",
    link: Link = [],
    note: Note = "",
    ledger: options.LedgerFile = None,
) -> None:
    """Add a fix by hand. `rocm3d upstream` adds the fixes that it writes drafts for."""
    from rocm3d.pipeline import LedgerChange, LedgerFile

    change = LedgerChange(links=tuple(link), repositories=split_commas(unblocks), what=what, note=note)
    fix = LedgerFile.open(ledger, session.print_status).add(name, change)
    session.write_output(f"{fix.id}\n", None)


def mark(
    session: CliSession,
    fix: FixId,
    state: State = None,
    link: Link = [],
    unblocks: Unblocks = [],
    what: What = "",
    note: Note = "",
    ledger: options.LedgerFile = None,
) -> None:
    """Update the state, links, repositories or description of a fix."""
    from rocm3d.pipeline import LedgerChange, LedgerFile

    change = LedgerChange(state, tuple(link), split_commas(unblocks), what, note)
    updated = LedgerFile.open(ledger, session.print_status).mark(fix, change)
    session.print_status(f"{updated.id}: {updated.state}; {', '.join(updated.links) or 'no link'}")


COMMANDS = (show, add, mark)
