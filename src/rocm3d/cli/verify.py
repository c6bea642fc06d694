"""rocm3d verify: check a port."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.knowledge.base import suggestion
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.verdict import Level, Verdicts
from rocm3d.pipeline import LEVELS, CompileOptions, Network, ResolverName
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 50
EXAMPLE = "Example: rocm3d verify ./gaussian-splatting --level static"

Form = Annotated[str, options.format_option(Verdicts)]
Resolver = Annotated[ResolverName, typer.Option("--resolver", help="Resolver for the level resolve.")]


def command(
    session: CliSession,
    path: options.Target,
    level: options.Level = [],
    target: options.TargetList = "",
    resolver: Resolver = "uv",
    hip_headers: options.HipHeaders = None,
    python: options.Python = None,
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> ExitCode:
    """Check a port: static, resolve, compile, nvidia, import, backend, numerics, workload.

    A check that this machine cannot run is not_run with a reason, never passed. Earlier results of other levels and
    targets stay, as long as the files are the same. Exit code 1 if a check failed, else 4
    if a level named by --level was not run. Only --level resolve uses the network; the resolver runs the build scripts
    of packages that have no other metadata. The levels import, backend and numerics run the packages of your
    interpreter, each in its own process; an interpreter in PATH runs only with --python. The levels compile and nvidia
    run the build scripts on a copy, with a stub for torch, and compile the sources: in a sandbox, if bubblewrap is
    installed and works here, else with your rights. The level workload runs nothing: it
    checks the runs of the current code that `rocm3d run` recorded.
    """
    refuse_unknown_format(form, format_names(Verdicts))
    levels = tuple(_parse_level(name) for name in level)
    with session.repository(path, work=work, any_folder=True) as repository:
        targets = tuple(repository.knowledge.gpu(name).gfx for name in target.split(",") if name)
        environment = repository.environment(python)
        network, building = _network(session, levels, resolver), _building(session, levels, hip_headers, python)
        document = repository.verify(levels or LEVELS, targets, network, environment, building)
        state = repository.state()
    document = document.of_levels(levels or LEVELS)
    session.show(document, form, output)
    session.show_state(state, path)
    if any(verdict.outcome == "failed" for verdict in document.verdicts):
        return ExitCode.FINDINGS
    requested_not_run = any(verdict.outcome == "not_run" and verdict.level in levels for verdict in document.verdicts)
    return ExitCode.MACHINE if requested_not_run else ExitCode.DONE


def _parse_level(name: str) -> Level:
    for level in LEVELS:
        if level == name:
            return level
    raise UserError(f"unknown level {name!r}", hint=suggestion(name, LEVELS))


def _network(session: CliSession, levels: tuple[Level, ...], resolver: ResolverName) -> Network:
    """The network is used only if the level resolve is named, and never with --offline."""
    if session.offline:
        return Network("--offline is set", resolver)
    return Network("", resolver) if "resolve" in levels else Network()


def _building(
    session: CliSession, levels: tuple[Level, ...], headers: Path | None, interpreter: Path | None
) -> CompileOptions:
    """Extensions are compiled only if the level compile or nvidia is named."""
    headers = options.header_folder(headers)
    if not {"compile", "nvidia"} & {*levels}:
        return CompileOptions()
    return CompileOptions("", headers, interpreter, session.print_status)
