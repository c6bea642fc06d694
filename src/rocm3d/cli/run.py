"""rocm3d run: run and record a workload."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.artifact import METRICS
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.run import RunRecord
from rocm3d.render.formats import format_names, refuse_unknown_format
from rocm3d.workload import (
    KEYS,
    RunRequest,
    known_expectations,
    new_run_folder,
    read_expectations,
    redacted_name,
    repository_of,
    run_workload,
)

POSITION = 60
_EXPECT_KEYS = ", ".join((*KEYS, *dict.fromkeys(name for kind in METRICS.values() for name in kind)))
EXAMPLE = f"""Example: rocm3d run --limit 20m --expect 'gaussians >= 50000' -- python generate.py

Keys of --expect: {_EXPECT_KEYS}; and the operations attention, gemm, conv, norm, raster, sparse; values are backends
(rocm3d kb query backends). OP is one of = != >= <= > <."""
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}

Command = Annotated[list[str], typer.Argument(metavar="CMD", help="The program and its arguments, after --.")]
Name = Annotated[str, typer.Option("--name", help="Name of the run. Default: the name of the script.")]
Limit = Annotated[
    str, typer.Option("--limit", help="Stop after this time: 600s, 20m, 2h. The first run may compile for 15 minutes.")
]
Expect = Annotated[list[str], typer.Option("--expect", help="'KEY OP VALUE' that must hold; repeatable.")]
Out = Annotated[
    list[Path], typer.Option("--out", help="Folder of its results. Default: the current folder.", file_okay=False)
]
Profile = Annotated[bool, typer.Option("--profile/--no-profile", help="Sample which kernels run on the GPU.")]
Form = Annotated[str, options.format_option(RunRecord)]


def command(
    session: CliSession,
    command: Command,
    name: Name = "",
    limit: Limit = "30m",
    expect: Expect = [],
    out: Out = [],
    profile: Profile = True,
    form: Form = "console",
    output: options.Output = None,
) -> ExitCode:
    """Run a workload and record which backend ran, its time and memory, and its artifacts.

    The program needs no change: every Python process that it starts, also by torchrun or a script, is recorded. Its
    output goes to stderr. The record is in .rocm3d/runs/NAME, also if the program fails. For the workload of a known
    repository the expectations of its record are checked too. Exit code 1 if the program failed or an expectation is
    not met.
    """
    refuse_unknown_format(form, format_names(RunRecord))
    knowledge, seconds = session.load(), _parse_duration(limit)
    requested_expectations, current_folder = read_expectations(expect, knowledge), Path.cwd()
    root, run_name = repository_of(current_folder), name or _default_name(command)
    expectations = (*requested_expectations, *known_expectations(command, root, knowledge, requested_expectations))
    into = new_run_folder(root, redacted_name(command, run_name))
    workload = RunRequest(
        tuple(command), run_name, current_folder, seconds, tuple(path.resolve() for path in out), profile, root
    )
    record = run_workload(workload, into, knowledge, expectations, None if session.quiet else sys.stderr.buffer)
    session.show(record, form, output)
    session.print_status(
        f"recorded in {into.relative_to(current_folder) if into.is_relative_to(current_folder) else into}"
    )
    if record.status == "interrupted":
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if record.passed else ExitCode.FINDINGS


def _parse_duration(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if match is None or float(match[1]) == 0:
        raise UserError(f"--limit {text!r} is not a duration", hint="for example 600s, 20m or 2h")
    return float(match[1]) * _UNITS[match[2]]


def _default_name(command: list[str]) -> str:
    """The name of the script or module, else of the program."""
    arguments = [word for word in command[1:] if not word.startswith("-")]
    return Path(arguments[0] if arguments else command[0]).stem
