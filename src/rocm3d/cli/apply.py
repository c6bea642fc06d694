"""rocm3d apply: make the planned edits and add the files of the port."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.comma_lists import split_commas
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.pipeline import FOLDER, ApplyOptions, EditSelection, read_plan
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 30
EXAMPLE = "Example: rocm3d apply ./gaussian-splatting --dry-run --skip PY,warp-size-per-architecture"

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the diff; write nothing.")]
Colour = Annotated[
    bool | None, typer.Option("--color/--no-color", help="Colour the diff. Default: only on a terminal.")
]
PlanFile = Annotated[
    Path | None, typer.Option("--plan", help="Apply this plan.json, for example one made elsewhere.", dir_okay=False)
]
Form = Annotated[str, options.format_option(Patch)]


def command(
    session: CliSession,
    path: options.Target,
    gpu: options.Gpu = None,
    plan_file: PlanFile = None,
    dry_run: DryRun = False,
    color: Colour = None,
    safe_only: options.SafeOnly = False,
    review: options.Review = False,  # noqa: ARG001  (accepted and without effect: the default of now)
    only: options.OnlyEdits = [],
    skip: options.SkipEdits = [],
    patch: options.PatchFile = None,
    licence_policy: options.LicencePolicy = None,
    into: options.Into = None,
    with_git: options.WithGit = False,
    yes: options.Yes = False,
    allow_dirty: options.AllowDirty = False,
    folder: options.Folder = FOLDER,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> ExitCode:
    """Make the planned edits: new files and guarded edits. NVIDIA builds see the same code, which is proven per edit.

    Edits that somebody should read are marked with what to check; `rocm3d review` shows them one by one. What no edit
    can resolve is listed as tasks.

    Uses the plan of your last `rocm3d plan`, or makes one for --gpu; a plan that came with the repository is not used.
    Works in place on a clean git tree, or on a copy (--into), which leaves PATH as it is. Without git it needs --yes.
    Edits in a submodule become a patch in the port's folder; the submodule is changed in a copy only. The whole port is
    also written to PATH/.rocm3d/port.patch, for `git am --keep-cr` on the original.
    """
    refuse_unknown_format(form, format_names(Patch))
    if plan_file is not None and gpu is not None:
        raise UserError("--plan and --gpu exclude each other", hint="the plan names its GPU")
    options.refuse_git_without_copy(into, with_git=with_git)
    in_place = into is None and not dry_run
    with (
        session.repository(
            path,
            work=work,
            folder=folder,
            lock="apply" if in_place else "",
            needs_git=in_place and not yes,
            reads_only=into is not None,
        ) as repository,
        contextlib.ExitStack() as copies,
    ):
        choice = EditSelection.from_options(split_commas(only), split_commas(skip), repository.knowledge)
        policy = session.licence_policy(licence_policy, repository)
        plan = read_plan(plan_file) if plan_file else None if gpu else repository.documents.find(Plan)
        product = session.gpu(gpu, repository) if plan is None else plan.gpu
        target = repository
        if into is not None and not dry_run:
            target = copies.enter_context(repository.copy_into(into, with_git=with_git))
        plan = plan or target.plan(product)
        plan.require_licences(policy)
        if not target.reads_only:
            target.documents.write(plan)
        document = target.apply(plan, ApplyOptions(safe_only, dry_run, allow_dirty, choice, patch))
        state = target.state(document)
    session.show(document, form, output, colour=color)
    session.print_unscanned(target.unscanned)
    session.show_state(state, into or path)
    changes = (*document.changes, *document.edited)
    return ExitCode.DONE if all(change.proof.holds for change in changes) else ExitCode.FINDINGS
