"""rocm3d port: scan, plan, apply, verify, evidence and report in one command."""

from __future__ import annotations

import contextlib
from pathlib import Path

from rocm3d.cli import options
from rocm3d.cli.comma_lists import split_commas
from rocm3d.cli.session import CliSession, quoted_path
from rocm3d.knowledge.base import suggestion
from rocm3d.model.duration import parse_duration
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.port_state import DEFAULT_BAR, RUNGS, RungName
from rocm3d.pipeline import FOLDER, LEVELS, ApplyOptions, Budget, CompileOptions, EditSelection, PlanOptions

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
    safe_only: options.SafeOnly = False,
    review: options.Review = False,  # noqa: ARG001  (accepted and without effect: the default of now)
    only: options.OnlyEdits = [],
    skip: options.SkipEdits = [],
    patch: options.PatchFile = None,
    allow_dirty: options.AllowDirty = False,
    compile_code: options.Compile = None,
    budget: options.CompileBudget = "10m",
    hip_headers: options.HipHeaders = None,
    until: options.Until = DEFAULT_BAR,
    folder: options.Folder = FOLDER,
    work: options.Work = None,
) -> ExitCode:
    """Port a repository: scan, plan, apply, verify, evidence, report.

    Works in place on a clean git tree, or on a copy (--into), which leaves PATH as it is. Without git it needs --yes.
    Native code is compiled for the GPU and for one of the other wave size, in a sandbox (bubblewrap), if there is a
    compiler: see rocm3d toolchain. What the budget leaves out, `rocm3d verify PATH --level compile` compiles later.
    Prints the report's path, the state of the port by rung, and the next command. Exit code 0 if scanned, planned,
    edited and, where there is native code, compiled are complete, no task is open and no dependency is blocked; else 1.
    """
    bar = _parse_rung(until)
    building = _building(session, compile_code, budget, hip_headers, python)
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
        building.progress = session.progress_of_units(target.progress)
        documents = target.port(
            product,
            LEVELS,
            PlanOptions(stack, rocm, prefer, platform, installed),
            ApplyOptions(safe_only, allow_dirty=allow_dirty, selection=choice, patch_file=patch),
            licence_policy=policy,
            environment=target.environment(python) if python else None,
            building=building,
        )
    if session.prints_status:
        from rocm3d.render import console

        for document in (documents.plan, documents.patch, documents.verdicts):
            session.print_status(console.render(document).rstrip("\n"))
        session.print_unscanned(target.unscanned)
        session.print_status("")
    from rocm3d.render.rungs import state_lines

    state = documents.state.for_path(quoted_path(into or path))
    session.write_output("\n".join((str(documents.report), *state_lines(state), "")), None)
    return ExitCode.DONE if state.reaches(bar) else ExitCode.FINDINGS


def _parse_rung(name: str) -> RungName:
    for rung in RUNGS:
        if rung == name:
            return rung
    raise UserError(f"unknown rung {name!r}", hint=suggestion(name, RUNGS))


def _building(
    session: CliSession, compile_code: bool | None, budget: str, headers: Path | None, interpreter: Path | None
) -> CompileOptions:
    """nvcc is not used: the CUDA side is the level nvidia of verify."""
    try:
        seconds = parse_duration(budget)
    except ValueError as error:
        raise UserError(f"--budget: {error}") from error
    folder = options.header_folder(headers)
    if compile_code is False:
        return CompileOptions("left out by --no-compile. Run rocm3d verify . --level compile")
    building = CompileOptions("", folder, interpreter, budget=Budget(seconds), nvcc=False)
    if not compile_code:
        building.sandbox = "required"
        building.confirm = lambda question: session.has_terminal and session.confirm(question)
    return building
