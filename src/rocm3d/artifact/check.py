"""Checks artifacts in a subprocess with limits on time and memory, so that no file can stop or crash rocm3d."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from rocm3d.artifact.formats import by_name
from rocm3d.model.artifact import METRICS, Artifact
from rocm3d.workspace.process import run

SECONDS = 300.0
MEMORY = 8 * 1024**3
_ANSWER = 64 * 1024 * 1024
_BATCH = 64
# The subprocess imports the same packages as this process: neither the working folder nor PYTHONPATH matter.
_PROGRAM = "import sys; sys.path[:] = sys.argv.pop(1).split({!r}); from rocm3d.artifact.look import main; main()"


def is_artifact(path: Path) -> bool:
    """By the file name alone."""
    return by_name(path) is not None


def keys() -> dict[str, dict[str, str]]:
    """The metrics that `--expect` accepts, by kind of artifact, each with its description."""
    return {kind: dict(known) for kind, known in METRICS.items()}


def check(path: Path, *, seconds: float = SECONDS, memory: int = MEMORY) -> Artifact:
    """Check one file. Nothing in it is executed."""
    return check_all([path], seconds=seconds, memory=memory)[0]


def check_all(paths: Sequence[Path], *, seconds: float = SECONDS, memory: int = MEMORY) -> list[Artifact]:
    """Check files in batches, one process per batch. A file that crashes its process does not affect the others."""
    found: list[Artifact] = []
    while len(found) < len(paths):
        batch = paths[len(found) : len(found) + _BATCH]
        # The process starts no file in the second half of its time, so that each file has at least that half.
        command = [*_command(), str(memory), str(seconds / 2), *map(str, batch)]
        ended = run(command, seconds=seconds, keep_bytes=_ANSWER)
        answers = _answers(ended.stdout)[: len(batch)]
        found += answers
        if not answers or (ended.code != 0 and len(answers) < len(batch)):
            found.append(_failed(batch[len(answers)], ended.code, seconds))
    return found


def _command() -> list[str]:
    folders = os.pathsep.join(folder for folder in sys.path if folder)
    return [sys.executable, "-I", "-c", _PROGRAM.format(os.pathsep), folders]


def _answers(printed: bytes) -> list[Artifact]:
    """One artifact per JSON line. Other lines are ignored: libraries print to stdout, too."""
    found = []
    for line in printed.splitlines():
        with contextlib.suppress(ValidationError):
            found.append(Artifact.model_validate_json(line))
    return found


def _failed(path: Path, code: int | None, seconds: float) -> Artifact:
    form = by_name(path)
    if code is None:
        reason = f"reading it took longer than the limit of {seconds:g} s"
    elif code < 0:
        reason = f"the reader was killed by {_signal(-code)}"
    else:
        reason = f"the reader exited with code {code}"
    kind = (form.kind if form else None) or "unknown"
    return Artifact(path=str(path), kind=kind, outcome="not_read", problems=(reason,))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
