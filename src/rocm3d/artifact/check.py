"""Checks a file in a process of its own, so that no file can take more than its time and memory, or end ours."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from rocm3d.artifact.formats import by_name
from rocm3d.model.artifact import KEYS, Artifact
from rocm3d.workspace.process import run

SECONDS = 300.0
MEMORY = 8 * 1024**3
_ANSWER = 64 * 1024 * 1024
_BATCH = 64
# The same packages as ours and no others: neither the folder we are in nor variables choose what is loaded.
_PROGRAM = "import sys; sys.path[:] = sys.argv.pop(1).split({!r}); from rocm3d.artifact.look import main; main()"


def is_artifact(path: Path) -> bool:
    """Whether it is worth a check, by its name alone."""
    return by_name(path) is not None


def keys() -> dict[str, dict[str, str]]:
    """What `--expect` may ask for: by kind of artifact, each metric and what it counts."""
    return {kind: dict(known) for kind, known in KEYS.items()}


def check(path: Path, *, seconds: float = SECONDS, memory: int = MEMORY) -> Artifact:
    """What a file is and whether it is fit, within limits. Nothing in it is run."""
    return check_all([path], seconds=seconds, memory=memory)[0]


def check_all(paths: Sequence[Path], *, seconds: float = SECONDS, memory: int = MEMORY) -> list[Artifact]:
    """The same for many, with one process for a good number of them. One that ends it loses no other."""
    found: list[Artifact] = []
    while len(found) < len(paths):
        batch = paths[len(found) : len(found) + _BATCH]
        # No file is begun in the second half, so that each has that much for itself.
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
    """As many whole lines as there are; a reader may have printed something of its own between."""
    found = []
    for line in printed.splitlines():
        with contextlib.suppress(ValidationError):
            found.append(Artifact.model_validate_json(line))
    return found


def _failed(path: Path, code: int | None, seconds: float) -> Artifact:
    form = by_name(path)
    if code is None:
        reason = f"takes longer than the {seconds:g} seconds that are allowed for it"
    elif code < 0:
        reason = f"its reader was ended by {_signal(-code)}"
    else:
        reason = f"its reader failed with {code}"
    kind = (form.kind if form else None) or "unknown"
    return Artifact(path=str(path), kind=kind, outcome="not_read", problems=(reason,))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
