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
_MOST = 4096


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


def attempts(folder: Path) -> dict[str, dict[int, str]]:
    """File names by job id and attempt number."""
    found: dict[str, dict[int, str]] = {}
    for entry in os.scandir(folder):
        form = _NAME.fullmatch(entry.name)
        if form is not None:
            mine = found.setdefault(form["job"], {})
            # Both files exist only on a damaged file system; the finished one wins.
            if not (form["running"] and int(form["attempt"]) in mine):
                mine[int(form["attempt"])] = entry.name
    return found


def read(folder: Path, number: int, name: str) -> Attempt:
    """Read one status file. A damaged file, or one that still has the suffix `.running`, has no ending."""
    try:
        with (folder / name).open("rb") as file:
            said = json.loads(file.read(_MOST))
    except (OSError, ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return Attempt(number)
    digest = _text(said, "digest")
    if name.endswith(".running") or said.get("ending") == "running":
        return Attempt(number, digest=digest, slot=_text(said, "slot"))
    return Attempt(
        number,
        _text(said, "ending"),
        digest,
        _number(said, "code"),
        _number(said, "signal"),
        float(_measure(said, "seconds")),
        float(_measure(said, "ended")),
        _text(said, "slot"),
    )


def ended_for(attempt: Attempt, why: str) -> Attempt:
    """Replace `killed` by the reason for which we stopped the attempt through a scheduler."""
    return replace(attempt, ending=why) if why and attempt.ending in ("", "killed") else attempt


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


def _text(said: dict[str, Any], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""


def _number(said: dict[str, Any], name: str) -> int | None:
    value = said.get(name)
    return value if isinstance(value, int) else None


def _measure(said: dict[str, Any], name: str) -> float:
    value = said.get(name)
    return value if isinstance(value, (int, float)) and value == value and abs(value) < 1e15 else 0.0  # noqa: PLR0124
