"""rocm3d verify: check a port."""

from __future__ import annotations

from typing import Annotated

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.knowledge.base import suggestion
from rocm3d.model.failure import Exit, UserError
from rocm3d.model.verdict import Level, Verdicts
from rocm3d.pipeline import LEVELS
from rocm3d.render.formats import names, refuse_unknown

POSITION = 50
EXAMPLE = "Example: rocm3d verify ./gaussian-splatting --level static"

Form = Annotated[str, options.form(Verdicts)]


def command(
    session: Session,
    path: options.Target,
    level: options.Level = [],
    target: options.TargetList = "",
    form: Form = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> Exit:
    """Check a port: static, resolve, compile, nvidia, import, backend, numerics, workload.

    What this machine cannot check is not_run with the reason, never passed. Exit code 1 on any failure, else 4 if a
    level named by --level was not run.
    """
    refuse_unknown(form, names(Verdicts))
    levels = tuple(_level(word) for word in level)
    with session.repository(path, work=work) as repository:
        targets = tuple(repository.knowledge.gpu(word).gfx for word in target.split(",") if word)
        document = repository.verify(levels or LEVELS, targets)
    session.show(document, form, output)
    if any(item.outcome == "failed" for item in document.verdicts):
        return Exit.FINDINGS
    asked_not_run = any(item.outcome == "not_run" and item.level in levels for item in document.verdicts)
    return Exit.MACHINE if asked_not_run else Exit.DONE


def _level(word: str) -> Level:
    for level in LEVELS:
        if level == word:
            return level
    raise UserError(f"no level is called {word!r}", hint=suggestion(word, LEVELS))
