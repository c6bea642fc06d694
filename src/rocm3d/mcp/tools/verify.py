"""verify: check a port."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.answer import Answer, answer
from rocm3d.mcp.arguments import Place, Word
from rocm3d.mcp.bench import kept_in
from rocm3d.model.base import Record
from rocm3d.model.failure import ExitCode, UserError
from rocm3d.model.verdict import Level

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench, Options
    from rocm3d.model.verdict import Verdicts
    from rocm3d.pipeline import CompileOptions, Network
    from rocm3d.verify.backends.environment import Environment

TITLE = "Verify a port"
POSITION = 50
PATHS = ("path",)
RUNS = True
# These only read files; all others run code of the repository or of its environment, or use the network.
_LOOKS = ("static", "workload")
_NOT_ALLOWED = "this runs code or uses the network, and the server was started without --allow-run"


class Arguments(Record):
    """As `rocm3d verify PATH --level --target --format json`."""

    path: Place
    level: Annotated[tuple[Level, ...], Field(max_length=8, description="Levels to check. Default: all.")] = ()
    target: Annotated[tuple[Word, ...], Field(max_length=20, description="gfx ids to compile for.")] = ()


def work(asked: Arguments, bench: Bench) -> Answer:
    """Check a port that `apply` made: static, resolve, compile, nvidia, import, backend, numerics, workload.

    A check that cannot run is not_run with a reason, never passed. static and workload only read files. The others run
    build scripts on a copy or packages of the user's interpreter, or use the network, and need --allow-run.
    """
    from rocm3d.model.verdict import Verdicts
    from rocm3d.pipeline import LEVELS

    _refuse(asked.level, bench.options)
    repository = bench.repository(asked.path)
    targets = tuple(repository.knowledge.gpu(word).gfx for word in asked.target)
    network, building = _network(asked.level, bench.options), _building(asked.level, bench)
    environment = repository.environment(None) if bench.options.allow_run else _no_environment()
    document = repository.verify(asked.level or LEVELS, targets, network, environment, building)
    return answer(
        document.model_dump(mode="json"),
        _summary(document),
        exit_code=int(_exit(document, asked.level)),
        kept_in=kept_in(repository.documents, Verdicts),
    )


def _refuse(levels: tuple[Level, ...], options: Options) -> None:
    named = [level for level in levels if level not in _LOOKS]
    if named and not options.allow_run:
        raise UserError(f"level {named[0]}: {_NOT_ALLOWED}", hint="restart it with `rocm3d mcp --allow-run`")


def _network(levels: tuple[Level, ...], options: Options) -> Network:
    from rocm3d.pipeline import Network

    if options.offline:
        return Network("--offline is set")
    return Network("") if "resolve" in levels else Network()


def _building(levels: tuple[Level, ...], bench: Bench) -> CompileOptions:
    from rocm3d.pipeline import CompileOptions

    return CompileOptions("", progress=bench.progress) if {"compile", "nvidia"} & {*levels} else CompileOptions()


def _no_environment() -> Environment:
    from rocm3d.verify.backends.environment import Environment

    return Environment(unavailable_reason=_NOT_ALLOWED)


def _summary(document: Verdicts) -> str:
    found = Counter(item.outcome for item in document.verdicts)
    return (
        f"{found['passed']} passed, {found['failed']} failed, {found['skipped']} skipped, {found['not_run']} not run: "
        "see `verdicts` for the reasons. Next: `evidence`."
    )


def _exit(document: Verdicts, levels: tuple[Level, ...]) -> ExitCode:
    if any(item.outcome == "failed" for item in document.verdicts):
        return ExitCode.FINDINGS
    asked_not_run = any(item.outcome == "not_run" and item.level in levels for item in document.verdicts)
    return ExitCode.MACHINE if asked_not_run else ExitCode.DONE
