"""rocm3d port: scan, plan, apply, verify, evidence and report in one command."""

from __future__ import annotations

import contextlib

from rocm3d.cli import options
from rocm3d.cli.comma_lists import split_commas
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.pipeline import FOLDER, LEVELS, ApplyOptions, EditSelection, PlanOptions

POSITION = 60
EXAMPLE = "Example: rocm3d port ./gaussian-splatting --gpu mi300x --into ./gaussian-splatting-rocm"


def command(
    session: CliSession,
    path: options.Target,
    gpu: options.Gpu = None,
    stack: options.Stack = None,
    rocm: options.Rocm = "",
    prefer: options.Prefer = "stable",
    platform: options.PlatformName = "linux",
    keep_torch: options.KeepTorch = False,
    python: options.Python = None,
    licence_policy: options.LicencePolicy = None,
    into: options.Into = None,
    with_git: options.WithGit = False,
    submodules: options.Submodules = False,
    yes: options.Yes = False,
    review: options.Review = False,
    only: options.OnlyEdits = [],
    skip: options.SkipEdits = [],
    patch: options.PatchFile = None,
    allow_dirty: options.AllowDirty = False,
    folder: options.Folder = FOLDER,
    work: options.Work = None,
) -> ExitCode:
    """Port a repository: scan, plan, apply, verify, evidence, report.

    Works in place on a clean git tree, or on a copy (--into), which leaves PATH as it is. Without git it needs --yes.
    Exit code 1 if a check failed or a dependency is blocked. Checks that were not run are listed.
    """
    options.refuse_git_without_copy(into, with_git=with_git)
    if submodules and session.offline:
        raise UserError("--submodules needs the network", hint="leave out --offline")
    with (
        session.repository(
            path,
            work=work,
            folder=folder,
            lock="port" if into is None else "",
            needs_git=into is None and not yes,
            reads_only=into is not None,
        ) as repository,
        contextlib.ExitStack() as copies,
    ):
        choice = EditSelection.from_options(split_commas(only), split_commas(skip), repository.knowledge)
        product = session.gpu(gpu, repository)
        installed = repository.installed(product, python, platform) if keep_torch else None
        policy = session.licence_policy(licence_policy, repository)
        target = repository
        missing = session.submodules_to_fetch(repository, requested=submodules, into=into)
        if into is not None:
            target = copies.enter_context(repository.copy_into(into, with_git=with_git))
        for line in target.fetch_submodules(missing):
            session.print_failure(line)
        if submodules or missing:
            for line in target.fetch_dependencies():
                session.print_failure(line)
        documents = target.port(
            product,
            LEVELS,
            PlanOptions(stack, rocm, prefer, platform, installed),
            ApplyOptions(review, allow_dirty=allow_dirty, selection=choice, patch_file=patch),
            licence_policy=policy,
            environment=target.environment(python) if python else None,
        )
    plan, verdicts, evidence = documents.plan, documents.verdicts, documents.evidence
    if session.prints_status:
        from rocm3d.render import console

        for document in (plan, documents.patch, verdicts, evidence):
            session.print_status(console.render(document).rstrip("\n"))
        session.print_unscanned(target.unscanned)
        session.print_status("")
    session.write_output(f"{documents.report}\n{evidence.tally.text}\n", None)
    failed = any(item.outcome == "failed" for item in verdicts.verdicts)
    blocked = plan.stack is None or any(item.decision == "blocked" for item in plan.decisions)
    return ExitCode.FINDINGS if failed or blocked else ExitCode.DONE
