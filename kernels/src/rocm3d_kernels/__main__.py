"""`python -m rocm3d_kernels run [--force] [--only NAMES] script.py ...` or `run -m module ...`; also `env`, `list`."""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import sys
from pathlib import Path

from rocm3d_kernels import __version__
from rocm3d_kernels.dropin.finder import SWITCH, install
from rocm3d_kernels.dropin.stand_in import known

STARTUP = Path(__file__).parent / "dropin" / "startup"


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(_divided(sys.argv[1:] if arguments is None else arguments))
    only = [name for name in options.only.split(",") if name] if "only" in options else []
    if options.command == "list":
        for name in sorted(known()):
            sys.stdout.write(f"{name}\n")
        return 0
    try:
        variables = switches(force=options.force, only=only)
        if options.command == "env":
            for name, value in variables.items():
                sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
            return 0
        install(force=options.force, only=only)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    os.environ.update(variables)
    return _run(options.rest)


def _divided(given: list[str]) -> list[str]:
    """Inserts `--` before the program, so that argparse does not read a following `-m` as one of our options."""
    place = 1
    while (
        given[:1] == ["run"] and place < len(given) and given[place].startswith(("--force", "--only", "-h", "--help"))
    ):
        place += 2 if given[place] == "--only" else 1
    return [*given[:place], "--", *given[place:]] if given[:1] == ["run"] and place < len(given) else given


def switches(*, force: bool, only: list[str]) -> dict[str, str]:
    """Environment variables that enable the drop-in in child processes."""
    value = ",".join([*(["force"] if force else []), *only]) or "1"
    path = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != str(STARTUP)]
    return {SWITCH: value, "PYTHONPATH": os.pathsep.join([str(STARTUP), *path])}


def _run(rest: list[str]) -> int:
    """Runs a script or a module in this process, with the sys.argv and sys.path that Python itself would set."""
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if not rest or (rest[0] == "-m" and len(rest) == 1):
        sys.stderr.write("run needs a script or -m MODULE: python -m rocm3d_kernels run script.py\n")
        return 2
    if rest[0] == "-m":
        sys.argv = rest[1:]
        _search_first(Path.cwd())
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
        return 0
    if not Path(rest[0]).exists():
        sys.stderr.write(f"{rest[0]}: no such file\n")
        return 2
    sys.argv = rest
    _search_first(Path(rest[0]).resolve().parent)
    runpy.run_path(rest[0], run_name="__main__")
    return 0


def _search_first(folder: Path) -> None:
    """Replaces the entry of our own start by the folder that Python itself would put first."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(folder)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rocm3d_kernels", description=__doc__)
    parser.add_argument("--version", action="version", version=f"rocm3d-kernels {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("run", "run a program with the drop-in"), ("env", "print the variables that enable it")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--force", action="store_true", help="replace packages that work, too")
        command.add_argument("--only", default="", metavar="NAMES", help="only these packages, separated by commas")
        if name == "run":
            command.add_argument("rest", nargs=argparse.REMAINDER, metavar="script.py ... | -m module ...")
    commands.add_parser("list", help="list the import names that can be replaced")
    return parser


if __name__ == "__main__":
    sys.exit(main())
