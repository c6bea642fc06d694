"""Numerics across machines: record the results of a program on one, compare them with those of another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.backend_check import GoldenComparison
from rocm3d.model.errors import ExitCode
from rocm3d.render.formats import format_names, refuse_unknown_format

POSITION = 98
EXAMPLE = "Example: rocm3d golden record --into nvidia --out results --module 'UNet*' -- python sample.py --seed 0"

Command = Annotated[list[str], typer.Argument(metavar="CMD", help="The program and its arguments, after --.")]
Into = Annotated[Path, typer.Option("--into", help="The new folder of the recording.", file_okay=False)]
Out = Annotated[
    list[Path], typer.Option("--out", help="Record the files that the program writes to this folder; repeatable.")
]
Module = Annotated[
    list[str],
    typer.Option("--module", help="Record the outputs of torch modules with this class or name (*); repeatable."),
]
Calls = Annotated[int, typer.Option("--calls", min=1, help="Number of calls to record per module.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed random, numpy and torch when they are imported.")]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="Stop the program after this time.")]
Python = Annotated[
    Path | None,
    typer.Option(
        "--python",
        help="Python that reads .pt files. Default: the one of CMD.",
        dir_okay=False,
        callback=options.absolute_path,
    ),
]
Reference = Annotated[Path, typer.Argument(metavar="A", help="The reference recording.", file_okay=False)]
Candidate = Annotated[Path, typer.Argument(metavar="B", help="The recording to check.", file_okay=False)]
Operation = Annotated[
    str, typer.Option("--class", help="Class of operation that selects the tolerances: operator, network, ...")
]
Tolerance = Annotated[
    list[str], typer.Option("--tolerance", help="PATTERN=NAME: use tolerance NAME for matching tensors; repeatable.")
]
Form = Annotated[str, options.format_option(GoldenComparison)]


def record(
    session: CliSession,
    command: Command,
    into: Into,
    out: Out = [],
    module: Module = [],
    calls: Calls = 1,
    seed: Seed = None,
    seconds: Seconds = 3600,
    python: Python = None,
) -> ExitCode:
    """Run a program and record its results: files in --out, and outputs of torch modules.

    The program needs no change. Recorded are .npy, .npz, .ply, .pt and the numbers of .json. Exit code 1 if the program
    failed, or if there was nothing to record.
    """
    from rocm3d.pipeline import RecordingRequest, record_golden

    request = RecordingRequest(tuple(command), tuple(out), tuple(module), calls, seed, seconds, python)
    recording = record_golden(request, into)
    for omitted in recording.left_out:
        session.print_status(f"not recorded: {omitted.name}: {omitted.reason}")
    if recording.exit_code != 0:
        ending = "timed out" if recording.exit_code is None else f"failed with exit code {recording.exit_code}"
        session.print_status(f"the program {ending}; its output is in {into / 'output.txt'}")
        return ExitCode.FINDINGS
    session.print_status(f"{len(recording.files)} file{'s' * (len(recording.files) != 1)} recorded in {into}")
    is_incomplete = not recording.files or any(omitted.name in module for omitted in recording.left_out)
    return ExitCode.FINDINGS if is_incomplete else ExitCode.DONE


def compare(
    session: CliSession,
    reference: Reference,
    candidate: Candidate,
    operation: Operation = "operator",
    tolerance: Tolerance = [],
    form: Form = "console",
    output: options.Output = None,
) -> ExitCode:
    """Compare two recordings, tensor by tensor, within named tolerances. Exit code 1 if any tensor differs.

    A NaN against a number, a missing tensor, and another shape or type always count as different.
    """
    from rocm3d.pipeline import Tolerances, compare_golden

    refuse_unknown_format(form, format_names(GoldenComparison))
    rules = Tolerances.of(session.load(), operation, tuple(tolerance))
    document = compare_golden(reference, candidate, rules)
    session.show(document, form, output)
    return ExitCode.DONE if document.agrees else ExitCode.FINDINGS


COMMANDS = (record, compare)
