"""Numerics across machines: record what a program gives on one, compare with what it gives on another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit
from rocm3d.model.golden import GoldenComparison
from rocm3d.render.formats import names, refuse_unknown

POSITION = 98
EXAMPLE = "Example: rocm3d golden record --into nvidia --out results --module 'UNet*' -- python sample.py --seed 0"

Command = Annotated[list[str], typer.Argument(metavar="CMD", help="The program and its arguments, after --.")]
Into = Annotated[Path, typer.Option("--into", help="The new folder of the recording.", file_okay=False)]
Out = Annotated[
    list[Path], typer.Option("--out", help="A folder the program writes to; what it writes there is kept; repeatable.")
]
Module = Annotated[
    list[str],
    typer.Option("--module", help="Keep what torch modules of this class or name return; * fits; repeatable."),
]
Calls = Annotated[int, typer.Option("--calls", min=1, help="How many calls of each module to keep.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed random, numpy and torch when they are imported.")]
Seconds = Annotated[float, typer.Option("--seconds", min=1, help="End the program after this time.")]
Python = Annotated[
    Path | None, typer.Option("--python", help="Reads .pt files; left out: the CMD's own python.", dir_okay=False)
]
Reference = Annotated[Path, typer.Argument(metavar="A", help="The recording that is right.", file_okay=False)]
Candidate = Annotated[Path, typer.Argument(metavar="B", help="The recording to judge.", file_okay=False)]
Operation = Annotated[
    str, typer.Option("--class", help="The class of operation that tolerances are taken for: operator, network, ...")
]
Tolerance = Annotated[
    list[str], typer.Option("--tolerance", help="PATTERN=NAME: this tolerance for tensors so named; repeatable.")
]
Form = Annotated[str, options.form(GoldenComparison)]


def record(
    session: Session,
    command: Command,
    into: Into,
    out: Out = [],
    module: Module = [],
    calls: Calls = 1,
    seed: Seed = None,
    seconds: Seconds = 3600,
    python: Python = None,
) -> Exit:
    """Run a program and keep the numbers it gives: files below --out, and what torch modules return.

    The program needs no change. Kept are .npy, .npz, .ply, .pt and the numbers of .json. Exit code 1 if the program
    failed, or if nothing came of what was asked for.
    """
    from rocm3d.pipeline import Wanted, record_golden

    wanted = Wanted(tuple(command), tuple(out), tuple(module), calls, seed, seconds, python)
    recording = record_golden(wanted, into)
    for item in recording.left_out:
        session.say(f"left out: {item.name}: {item.reason}")
    if recording.exit_code != 0:
        how = "ran out of time" if recording.exit_code is None else f"failed with {recording.exit_code}"
        session.say(f"the program {how}; what it printed is in {into / 'output.txt'}")
        return Exit.FINDINGS
    session.say(f"{len(recording.files)} files recorded in {into}")
    nothing = not recording.files or any(item.name in module for item in recording.left_out)
    return Exit.FINDINGS if nothing else Exit.DONE


def compare(
    session: Session,
    reference: Reference,
    candidate: Candidate,
    operation: Operation = "operator",
    tolerance: Tolerance = [],
    form: Form = "console",
    output: options.Output = None,
) -> Exit:
    """Compare two recordings, tensor by tensor, within tolerances by name. Exit code 1 if any does not agree.

    A NaN where the other is a number, a missing tensor, another shape or type never agrees.
    """
    from rocm3d.pipeline import Tolerances, compare_golden

    refuse_unknown(form, names(GoldenComparison))
    rules = Tolerances.of(session.load(), operation, tuple(tolerance))
    document = compare_golden(reference, candidate, rules)
    session.show(document, form, output)
    return Exit.DONE if document.agrees else Exit.FINDINGS


COMMANDS = (record, compare)
