"""The entry point of `rocm3d`: loads only the subcommand that is called."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

from rocm3d import cli
from rocm3d.cli.fast_scan import run_fast_scan
from rocm3d.model.registry import module_names
from rocm3d.workspace.interrupts import exiting

if TYPE_CHECKING:
    import typer

_GC_THRESHOLD = 100_000


def main() -> None:
    """Run the `rocm3d` command."""
    # Objects from start-up live until the end; scanning them for garbage would cost a tenth of a scan.
    gc.set_threshold(_GC_THRESHOLD)
    atexit.register(gc.freeze)
    completing = any(name.startswith("_ROCM3D_") for name in os.environ)
    # A command makes itself interruptible; while its parser is built there is nothing to clean up.
    with exiting():
        code = None if completing else run_fast_scan(sys.argv[1:])
        if code is not None:
            sys.exit(int(code))
        build(None if completing else _requested_subcommand(sys.argv[1:]))()


def build(only: str | None = None) -> typer.Typer:
    """The application with all subcommands, or with one."""
    from rocm3d.cli import application

    return application.build(only)


def _requested_subcommand(arguments: list[str]) -> str | None:
    """The subcommand of a call; None if help or a suggestion needs all of them."""
    if arguments[:1] == ["--version"]:
        return ""
    return arguments[0] if arguments and arguments[0] in module_names(cli.__name__) else None
