"""rocm3d upstream: write drafts of pull requests and issues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode
from rocm3d.model.upstream import DraftKind, Drafts
from rocm3d.render.formats import format_names, refuse_unknown_format
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from rocm3d.model.upstream import Fix

POSITION = 76
EXAMPLE = "Example: rocm3d upstream ./gaussian-splatting-rocm --kind issue --output drafts"

Kind = Annotated[DraftKind, typer.Option("--kind", help="Write a pull request, or an issue that asks first.")]
Folder = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the drafts. Default: PATH/.rocm3d/upstream.", file_okay=False),
]
NoLedger = Annotated[bool, typer.Option("--no-ledger", help="Do not add the fixes to the ledger.")]
Form = Annotated[str, options.format_option(Drafts)]


def command(
    session: CliSession,
    path: options.Target,
    kind: Kind = "pr",
    output: Folder = None,
    ledger: options.LedgerFile = None,
    no_ledger: NoLedger = False,
    form: Form = "console",
    work: options.Work = None,
) -> ExitCode:
    """Write drafts from a port and its evidence: title, body, patch, and a checklist of what was and was not tested.

    One folder for each repository that the port changes: this one, each submodule, each dependency from git with a
    patch. A draft is a text for you to review, edit and send; rocm3d sends nothing. Each fix is added to the ledger,
    which shows whether another repository needs the same one: see `rocm3d ledger`. A draft that you edited is not
    overwritten. Exit code 1 if a check failed: such a draft is not ready.
    """
    from rocm3d.pipeline import LedgerFile, draft_upstream

    refuse_unknown_format(form, format_names(Drafts))
    with session.repository(path, work=work, any_folder=True) as repository:
        book = None if no_ledger else LedgerFile.open(ledger, session.print_status)
        result = draft_upstream(repository, kind, output, book)
    session.show(result.document, form, None)
    for fix in result.fixes.values():
        _report_known_fix(session, fix)
    if result.manually_changed:
        session.print_status(f"changed after the port, so not in a patch: {clean(', '.join(result.manually_changed))}")
    session.print_status(f"the drafts are in {result.folder}")
    return ExitCode.FINDINGS if any(draft.failed for draft in result.document.drafts) else ExitCode.DONE


def _report_known_fix(session: CliSession, fix: Fix) -> None:
    """Report earlier submissions of a fix, so that nobody sends the same change twice."""
    if fix.links:
        session.print_status(f"{fix.id} is already {fix.state}: {', '.join(fix.links)}")
    elif len(fix.repositories) > 1:
        session.print_status(f"{fix.id} unblocks {len(fix.repositories)} repositories: {', '.join(fix.repositories)}")
