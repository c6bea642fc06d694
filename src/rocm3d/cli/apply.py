"""rocm3d apply: make the planned edits and add the port's files."""

from __future__ import annotations

from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.pipeline import FOLDER, resolve_gpu
from rocm3d.render.formats import names, refuse_unknown

POSITION = 30
EXAMPLE = "Example: rocm3d apply ./gaussian-splatting --dry-run"

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the diff; write nothing.")]

Form = Annotated[str, options.form(Patch)]


def command(
    session: Session,
    path: options.Target,
    gpu: options.Gpu = None,
    dry_run: DryRun = False,
    review: options.Review = False,
    licence_policy: options.LicencePolicy = None,
    into: options.Into = None,
    allow_dirty: options.AllowDirty = False,
    folder: options.Folder = FOLDER,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> Exit:
    """Make the planned edits: additive files and guarded edits, each proven invisible to NVIDIA users.

    Uses the plan of the last `rocm3d plan`, or makes one for --gpu. In place on a clean git tree, or into a copy.
    """
    refuse_unknown(form, names(Patch))
    with session.repository(path, work=work, folder=folder) as repository:
        settings = session.configuration(path)
        plan = None if gpu else repository.documents.find(Plan)
        if plan is None:
            plan = repository.plan(resolve_gpu(gpu or settings.gpu, repository.knowledge))
        if session.refuse_licences(plan, licence_policy or settings.licence_policy):
            return Exit.FINDINGS
        here = repository if into is None else repository.into(into)
        here.documents.write(plan)
        patch = here.apply(plan, review=review, dry_run=dry_run, allow_dirty=allow_dirty)
    session.show(patch, form, output)
    return Exit.DONE if all(change.proof.holds for change in patch.changes) else Exit.FINDINGS
