"""`python -m rocm3d_kernels run [--force] [--only NAMES] script.py ...` or `run -m module ...`; also `env`, `list`."""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import sys
from pathlib import Path

from rocm3d_kernels import __version__
from rocm3d_kernels.dropin.declaration import all_drop_ins
from rocm3d_kernels.dropin.finder import SWITCH, install

STARTUP_FOLDER = Path(__file__).parent / "dropin" / "startup"


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(_mark_program_start(sys.argv[1:] if arguments is None else arguments))
    only = [name for name in options.only.split(",") if name] if "only" in options else []
    if options.command == "list":
        for name in sorted(all_drop_ins()):
            sys.stdout.write(f"{name}\n")
        return 0
    try:
        variables = dropin_variables(force=options.force, only=only)
        if options.command == "env":
            for name, value in variables.items():
                sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
            return 0
        install(force=options.force, only=only)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    os.environ.update(variables)
    return _run_program(options.rest)


def _mark_program_start(arguments: list[str]) -> list[str]:
    """Inserts `--` before the program, so that argparse does not read a following `-m` as one of our options."""
    index = 1
    while (
        arguments[:1] == ["run"]
        and index < len(arguments)
        and arguments[index].startswith(("--force", "--only", "-h", "--help"))
    ):
        index += 2 if arguments[index] == "--only" else 1
    return (
        [*arguments[:index], "--", *arguments[index:]]
        if arguments[:1] == ["run"] and index < len(arguments)
        else arguments
    )


def dropin_variables(*, force: bool, only: list[str]) -> dict[str, str]:
    """Environment variables that enable the drop-in in child processes."""
    value = ",".join([*(["force"] if force else []), *only]) or "1"
    path = [
        entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != str(STARTUP_FOLDER)
    ]
    return {SWITCH: value, "PYTHONPATH": os.pathsep.join([str(STARTUP_FOLDER), *path])}


def _run_program(program: list[str]) -> int:
    """Runs a script or a module in this process, with the sys.argv and sys.path that Python itself would set."""
    if program[:1] == ["--"]:
        program = program[1:]
    if not program or (program[0] == "-m" and len(program) == 1):
        sys.stderr.write("run needs a script or -m MODULE: python -m rocm3d_kernels run script.py\n")
        return 2
    if program[0] == "-m":
        sys.argv = program[1:]
        _set_first_search_path(Path.cwd())
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        return 0
    if not Path(program[0]).exists():
        sys.stderr.write(f"{program[0]}: no such file\n")
        return 2
    sys.argv = program
    _set_first_search_path(Path(program[0]).resolve().parent)
    runpy.run_path(program[0], run_name="__main__")
    return 0


def _set_first_search_path(folder: Path) -> None:
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
