"""Asks the target's interpreter about one package, in a process of its own: a crash or a hang is an answer too."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.model.failure import MachineLacks
from rocm3d.model.look import Look
from rocm3d.workspace.process import Finished, run
from rocm3d.workspace.scratch import scratch_file

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.verify.backends.environment import Environment

SCRIPT = Path(__file__).parents[2] / "payload" / "probe_backend.py"
_KEPT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Question:
    """What to look at. Without a probe the modules are only imported; `env` is what the plan's route sets."""

    package: str
    modules: tuple[str, ...]
    probe: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> object:
        """Equal for equal questions."""
        return self.package, self.modules, self.probe, tuple(sorted(self.env.items()))


def ask(question: Question, environment: Environment, knowledge: Knowledge) -> Look:
    """The answer, remembered in the environment."""
    if question.key not in environment.answers:
        started = time.monotonic()
        look = _asked(question, environment, knowledge)
        about = {"package": question.package, "seconds": round(time.monotonic() - started, 2)}
        environment.answers[question.key] = look.model_copy(update=about)
    return environment.answers[question.key]


def _asked(question: Question, environment: Environment, knowledge: Knowledge) -> Look:
    if environment.interpreter is None:
        return Look(probe=question.probe, outcome="not_run", reason=environment.lacks)
    request = {
        "probe": question.probe,
        "modules": question.modules,
        "device": environment.device,
        "tolerances": {item.id: [item.rtol, item.atol] for item in knowledge.tolerances.values()},
        "roots": [str(root) for root in environment.roots],
    }
    with scratch_file("request.json", json.dumps(request).encode()) as note:
        command = [str(environment.interpreter), str(SCRIPT), str(note)]
        try:
            # In a folder of its own: what lies in the caller's must not be imported or written over.
            ended = run(
                command,
                cwd=note.parent,
                env={**os.environ, **question.env},
                seconds=environment.seconds,
                keep_bytes=_KEPT_BYTES,
            )
        except MachineLacks as error:
            return Look(probe=question.probe, outcome="not_run", reason=error.message)
    return _read(ended, question, environment)


def _read(ended: Finished, question: Question, environment: Environment) -> Look:
    if ended.timed_out:
        reason = f"no answer within {environment.seconds:g} s: it hangs, or compiles for longer than that"
        return Look(probe=question.probe, outcome="broken", reason=reason)
    lines = ended.stdout.splitlines()
    try:
        return Look.model_validate_json(lines[-1])
    except (IndexError, ValidationError):
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        last = f": {said[-1][:300]}" if said else ""
        return Look(probe=question.probe, outcome="broken", reason=f"{_end(ended.code)}{last}")


def _end(code: int | None) -> str:
    """How a process without an answer ended."""
    if code is not None and code < 0:
        try:
            return f"the process died of {signal.Signals(-code).name}"
        except ValueError:
            return f"the process died of signal {-code}"
    return f"the process ended with {code} and no answer"
