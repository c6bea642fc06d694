"""The command line: collects the subcommands, adds the common options, and maps exceptions to exit codes."""

from __future__ import annotations

import inspect
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_type_hints

import typer

from rocm3d import __version__, cli
from rocm3d.model.errors import ExitCode, Rocm3dError, UserError
from rocm3d.model.registry import load_module, module_names
from rocm3d.workspace.interrupts import ignore_interrupts, interruptible

log = logging.getLogger("rocm3d")

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result and errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print each step on stderr.")]
LogFile = Annotated[Path | None, typer.Option(help="Write a full log to this file.", dir_okay=False)]
Offline = Annotated[bool, typer.Option("--offline", help="Never use the network.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Read every file again; cache no results.")]
Isolated = Annotated[
    bool, typer.Option("--isolated", help="Ignore the repository's own settings and its ignore comments.")
]
Overlay = Annotated[Path | None, typer.Option("--knowledge", help="A folder of records that override ours.")]

COMMON: dict[str, Any] = {
    "quiet": (Quiet, False),
    "verbose": (Verbose, False),
    "log_file": (LogFile, None),
    "offline": (Offline, False),
    "no_cache": (NoCache, False),
    "isolated": (Isolated, False),
    "knowledge": (Overlay, None),
}


def build(only: str | None = None) -> typer.Typer:
    """The application with all subcommands, or with one; an empty name means none.

    Subcommands are discovered: every module of this package with a POSITION is one.
    """
    app = typer.Typer(
        name="rocm3d",
        help="Port CUDA-first 3D, VLA and world-model repositories to AMD GPUs, and prove the port.",
        epilog="Start with: rocm3d scan PATH, then rocm3d port PATH --gpu mi300x --into COPY",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root_options)
    modules = [load_module(cli.__name__, name) for name in module_names(cli.__name__) if only in (None, name)]
    for module in sorted((m for m in modules if hasattr(m, "POSITION")), key=lambda module: module.POSITION):
        _register(app, module)
    return app


def _register(app: typer.Typer, module: ModuleType) -> None:
    name = module.__name__.rsplit(".", 1)[-1]
    if hasattr(module, "command"):
        app.command(name, help=inspect.getdoc(module.command), epilog=module.EXAMPLE)(
            _with_common_options(module.command)
        )
        return
    group = typer.Typer(help=inspect.getdoc(module), no_args_is_help=True, rich_markup_mode=None)
    for function in module.COMMANDS:
        group.command(function.__name__, help=inspect.getdoc(function), epilog=module.EXAMPLE)(
            _with_common_options(function)
        )
    app.add_typer(group, name=name)


def _with_common_options(function: Callable[..., ExitCode | None]) -> Callable[..., None]:
    """Wrap a command: add the common options, pass a Session as first argument, and map exceptions to exit codes."""
    hints = get_type_hints(function, include_extras=True)
    own_parameters = [
        parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != "session"
    ]

    def run(**arguments: Any) -> None:
        from rocm3d.cli.session import CliSession

        common = {name: arguments.pop(name) for name in COMMON}
        _run_and_exit(lambda: function(CliSession(**common), **arguments), common)

    parameters = [
        *(
            parameter.replace(annotation=hints[parameter.name], kind=parameter.KEYWORD_ONLY)
            for parameter in own_parameters
        ),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in COMMON.items()
        ),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _run_and_exit(call: Callable[[], ExitCode | None], common: dict[str, Any]) -> None:
    """Run a command and exit. The only place where exceptions become exit codes."""
    try:
        with interruptible():
            _start_log(verbose=common["verbose"], file=common["log_file"])
            code = call() or ExitCode.DONE
    except Rocm3dError as failure:
        _print_error(failure.message, failure.hint)
        code = failure.exit_code
    except KeyboardInterrupt:
        ignore_interrupts()
        _print_error("interrupted")
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has exited, as in `rocm3d scan . | head`.
        sys.stderr.close()
        code = ExitCode.DONE
    except Exception:  # noqa: BLE001  (anything else is a bug in rocm3d: write a crash log)
        _print_error(*_write_crash_log())
        code = ExitCode.BUG
    raise typer.Exit(int(code))


def _print_error(message: str, hint: str = "") -> None:
    text = f"rocm3d: {message}" + (f"\n  hint: {hint}" if hint else "")
    typer.echo(text, err=True)
    log.error("%s", text)


def _write_crash_log() -> tuple[str, str]:
    report = (
        f"### rocm3d {__version__} crashed\n\n- python {sys.version.split()[0]} on {sys.platform}\n"
        f"- arguments: `{' '.join(sys.argv[1:])}`\n\n```text\n{traceback.format_exc()}```\n"
    )
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    from rocm3d.workspace.state import cache_folder

    try:
        path = cache_folder() / f"crash-{stamp}.md"
        path.write_text(report, encoding="utf-8")
    except (OSError, Rocm3dError):
        typer.echo(report, err=True)
        return "this is a bug in rocm3d", "please open an issue with the text above"
    return f"this is a bug in rocm3d. Please open an issue with this log: {path}", ""


def _start_log(*, verbose: bool, file: Path | None) -> None:
    log.handlers.clear()
    # A scan logs every file: without a handler that must be free.
    log.setLevel(logging.DEBUG if verbose or file is not None else logging.CRITICAL)
    log.propagate = False
    log.addHandler(logging.NullHandler())
    if verbose:
        log.addHandler(logging.StreamHandler(sys.stderr))
    if file is not None:
        try:
            handler = logging.FileHandler(file, encoding="utf-8")
        except OSError as error:
            raise UserError(f"--log-file {file}: {error.strerror}") from error
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
    log.debug("rocm3d %s: %s", __version__, " ".join(sys.argv[1:]))


def _print_version(requested: bool) -> None:
    if requested:
        from rocm3d.knowledge.load import load
        from rocm3d.model.base import SCHEMA_VERSION

        typer.echo(f"rocm3d {__version__}, knowledge of {load().date}, schema {SCHEMA_VERSION}")
        raise typer.Exit


def _root_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show version, knowledge date and schema."
        ),
    ] = False,
) -> None:
    """Options of `rocm3d` without a subcommand."""
