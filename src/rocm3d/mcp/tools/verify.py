"""verify: check a port."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.arguments import RepositoryPath, ShortString
from rocm3d.mcp.tool_context import document_path
from rocm3d.mcp.tool_response import ToolResponse, tool_response
from rocm3d.model.base import Record
from rocm3d.model.errors import ExitCode, UserError
from rocm3d.model.verdict import Level

if TYPE_CHECKING:
    from rocm3d.mcp.tool_context import ServerOptions, ToolContext
    from rocm3d.model.verdict import Verdicts
    from rocm3d.pipeline import CompileOptions, Network
    from rocm3d.verify.backends.environment import Environment

TITLE = "Verify a port"
POSITION = 50
PATHS = ("path",)
RUNS = True
# These only read files; all others run code of the repository or of its environment, or use the network.
_READ_ONLY_LEVELS = ("static", "workload")
_ALLOW_HINT = "restart it with `rocm3d mcp --allow-run`"
_NOT_ALLOWED = "this runs code or uses the network, and the server was started without --allow-run"


class Arguments(Record):
    """As `rocm3d verify PATH --level --target --python --format json`."""

    path: RepositoryPath
    level: Annotated[tuple[Level, ...], Field(max_length=8, description="Levels to check. Default: all.")] = ()
    target: Annotated[tuple[ShortString, ...], Field(max_length=20, description="gfx ids to compile for.")] = ()
    python: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=4096,
            description="An interpreter in the repository, such as .venv/bin/python. Default: the user's own.",
        ),
    ] = None


def work(arguments: Arguments, context: ToolContext) -> ToolResponse:
    """Check a port that `apply` made: static, resolve, compile, nvidia, import, backend, numerics, workload.

    A check that cannot run is not_run with a reason, never passed. static and workload only read files. The others run
    build scripts on a copy or packages of the user's interpreter, or use the network, and need --allow-run. An
    interpreter in the repository runs only if `python` names it.
    """
    from rocm3d.model.verdict import Verdicts
    from rocm3d.pipeline import LEVELS

    _check_allowed(arguments.level, context.options)
    if arguments.python is not None and not context.options.allow_run:
        raise UserError(f"python: {_NOT_ALLOWED}", hint=_ALLOW_HINT)
    repository = context.repository(arguments.path, any_folder=True)
    targets = tuple(repository.knowledge.gpu(name).gfx for name in arguments.target)
    network, building = _network(arguments.level, context.options), _building(arguments.level, context)
    python = None if arguments.python is None else _named_interpreter(arguments.python, repository.root)
    environment = repository.environment(python) if context.options.allow_run else _forbidden_environment()
    levels = arguments.level or LEVELS
    document = repository.verify(levels, targets, network, environment, building).of_levels(levels)
    return tool_response(
        document.model_dump(mode="json"),
        "See `verdicts` for the reasons. Next: `evidence`.",
        exit_code=int(_exit_code(document, arguments.level)),
        kept_in=document_path(repository.documents, Verdicts),
        state=repository.state(),
    )


def _check_allowed(levels: tuple[Level, ...], options: ServerOptions) -> None:
    running_levels = [level for level in levels if level not in _READ_ONLY_LEVELS]
    if running_levels and not options.allow_run:
        raise UserError(f"level {running_levels[0]}: {_NOT_ALLOWED}", hint=_ALLOW_HINT)


def _named_interpreter(python: str, root: Path) -> Path:
    """The interpreter of this path in the repository; its links are not followed, because they lead to the base."""
    path = Path(os.path.normpath(root / python))
    if "\0" in python or not path.is_relative_to(root):
        raise UserError("python is not in the repository", hint="leave it out to use the user's own interpreter")
    return path


def _network(levels: tuple[Level, ...], options: ServerOptions) -> Network:
    from rocm3d.pipeline import Network

    if options.offline:
        return Network("--offline is set")
    return Network("") if "resolve" in levels else Network()


def _building(levels: tuple[Level, ...], context: ToolContext) -> CompileOptions:
    from rocm3d.pipeline import CompileOptions

    return CompileOptions("", progress=context.progress) if {"compile", "nvidia"} & {*levels} else CompileOptions()


def _forbidden_environment() -> Environment:
    from rocm3d.verify.backends.environment import Environment

    return Environment(unavailable_reason=_NOT_ALLOWED)


def _exit_code(document: Verdicts, levels: tuple[Level, ...]) -> ExitCode:
    if any(item.outcome == "failed" for item in document.verdicts):
        return ExitCode.FINDINGS
    requested_not_run = any(item.outcome == "not_run" and item.level in levels for item in document.verdicts)
    return ExitCode.MACHINE if requested_not_run else ExitCode.DONE
