"""The entry point of `rocm3d`: loads only the subcommand that is called."""

from __future__ import annotations

import atexit
import gc
import os
import pkgutil
import sys
from typing import TYPE_CHECKING

from rocm3d import cli
from rocm3d.cli.shortcut import answered

if TYPE_CHECKING:
    import typer

_GARBAGE = 100_000


def main() -> None:
    """Run the `rocm3d` command."""
    # Objects from start-up live until the end; scanning them for garbage would cost a tenth of a scan.
    gc.set_threshold(_GARBAGE)
    atexit.register(gc.freeze)
    completing = any(name.startswith("_ROCM3D_") for name in os.environ)
    code = None if completing else answered(sys.argv[1:])
    if code is not None:
        sys.exit(int(code))
    build(None if completing else _named(sys.argv[1:]))()


def build(only: str | None = None) -> typer.Typer:
    """The application with all subcommands, or with one."""
    from rocm3d.cli import application

    return application.build(only)


def _named(words: list[str]) -> str | None:
    """The subcommand of a call; None if help or a suggestion needs all of them."""
    if words[:1] == ["--version"]:
        return ""
    there = {item.name for item in pkgutil.iter_modules(cli.__path__)}
    return words[0] if words and words[0] in there else None
