"""Status files, one per attempt, written by the launcher. The journal can be rebuilt from them."""

from __future__ import annotations

import fcntl
import json
import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"(?P<job>.+)\.(?P<attempt>[1-9][0-9]{0,8})(?P<running>\.running)?")
_MAX_BYTES = 4096


@dataclass(frozen=True)
class Attempt:
    """One start of a job. `ending` is empty if the result is unknown."""

    number: int
    ending: str = ""
    digest: str = ""
    code: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    ended: float = 0.0
    slot: str = ""


def list_attempts(folder: Path) -> dict[str, dict[int, str]]:
    """File names by job id and attempt number."""
    by_job: dict[str, dict[int, str]] = {}
    for entry in os.scandir(folder):
        match = _NAME.fullmatch(entry.name)
        if match is not None:
            files = by_job.setdefault(match["job"], {})
            # Both files exist only on a damaged file system; the finished one wins.
            if not (match["running"] and int(match["attempt"]) in files):
                files[int(match["attempt"])] = entry.name
    return by_job


def read_attempt(folder: Path, number: int, name: str) -> Attempt:
    """Read one status file. A damaged file, or one that still has the suffix `.running`, has no ending."""
    try:
        with (folder / name).open("rb") as file:
            status = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        status = None
    if not isinstance(status, dict):
        return Attempt(number)
    digest = _text(status, "digest")
    if name.endswith(".running") or status.get("ending") == "running":
        return Attempt(number, digest=digest, slot=_text(status, "slot"))
    return Attempt(
        number,
        _text(status, "ending"),
        digest,
        _number(status, "code"),
        _number(status, "signal"),
        float(_finite_number(status, "seconds")),
        float(_finite_number(status, "ended")),
        _text(status, "slot"),
    )


def with_stop_reason(attempt: Attempt, ending: str) -> Attempt:
    """Replace `killed` by the reason for which we stopped the attempt through a scheduler."""
    return replace(attempt, ending=ending) if ending and attempt.ending in ("", "killed") else attempt


def is_alive(folder: Path, name: str) -> bool:
    """Whether a process of the attempt is alive: each of them holds the file lock."""
    try:
        with (folder / name).open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _text(status: dict[str, Any], name: str) -> str:
    value = status.get(name)
    return value if isinstance(value, str) else ""


def _number(status: dict[str, Any], name: str) -> int | None:
    value = status.get(name)
    return value if isinstance(value, int) else None


def _finite_number(status: dict[str, Any], name: str) -> float:
    value = status.get(name)
    return value if isinstance(value, (int, float)) and value == value and abs(value) < 1e15 else 0.0  # noqa: PLR0124
