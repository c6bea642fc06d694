"""Checks artifacts in a subprocess with limits on time and memory, so that no file can stop or crash rocm3d."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from rocm3d.artifact.formats import format_by_name
from rocm3d.model.artifact import Artifact
from rocm3d.workspace.process import run

TIMEOUT_SECONDS = 300.0
MEMORY_BYTES = 8 * 1024**3
_MAX_OUTPUT_BYTES = 64 * 1024 * 1024
_BATCH = 64
# The subprocess imports the same packages as this process: neither the working folder nor PYTHONPATH matter.
_PROGRAM = "import sys; sys.path[:] = sys.argv.pop(1).split({!r}); from rocm3d.artifact.inspection import main; main()"


def is_artifact(path: Path) -> bool:
    """By the file name alone."""
    return format_by_name(path) is not None


def check(path: Path, *, seconds: float = TIMEOUT_SECONDS, memory: int = MEMORY_BYTES) -> Artifact:
    """Check one file. Nothing in it is executed."""
    return check_all([path], seconds=seconds, memory=memory)[0]


def check_all(paths: Sequence[Path], *, seconds: float = TIMEOUT_SECONDS, memory: int = MEMORY_BYTES) -> list[Artifact]:
    """Check files in batches, one process per batch. A file that crashes its process does not affect the others."""
    artifacts: list[Artifact] = []
    while len(artifacts) < len(paths):
        batch = paths[len(artifacts) : len(artifacts) + _BATCH]
        # The process starts no file in the second half of its time, so that each file has at least that half.
        command = [*_command(), str(memory), str(seconds / 2), *map(str, batch)]
        completed = run(command, seconds=seconds, keep_bytes=_MAX_OUTPUT_BYTES)
        parsed = _parse_output(completed.stdout)[: len(batch)]
        artifacts += parsed
        if not parsed or (completed.code != 0 and len(parsed) < len(batch)):
            artifacts.append(_reader_failure(batch[len(parsed)], completed.code, seconds))
    return artifacts


def _command() -> list[str]:
    folders = os.pathsep.join(folder for folder in sys.path if folder)
    return [sys.executable, "-I", "-c", _PROGRAM.format(os.pathsep), folders]


def _parse_output(stdout: bytes) -> list[Artifact]:
    """One artifact per JSON line. Other lines are ignored: libraries print to stdout, too."""
    artifacts = []
    for line in stdout.splitlines():
        with contextlib.suppress(ValidationError):
            artifacts.append(Artifact.model_validate_json(line))
    return artifacts


def _reader_failure(path: Path, exit_code: int | None, seconds: float) -> Artifact:
    file_format = format_by_name(path)
    if exit_code is None:
        reason = f"reading it took longer than the limit of {seconds:g} s"
    elif exit_code < 0:
        reason = f"the reader was killed by {_signal_name(-exit_code)}"
    else:
        reason = f"the reader exited with code {exit_code}"
    kind = (file_format.kind if file_format else None) or "unknown"
    return Artifact(path=str(path), kind=kind, outcome="not_read", problems=(reason,))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
