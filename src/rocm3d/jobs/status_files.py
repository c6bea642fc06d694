"""What the wrappers of jobs have written, attempt by attempt: the truth, from which a journal can be made anew."""

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
    """One start of a job. `ending` is empty where nothing says how it ended."""

    number: int
    ending: str = ""
    digest: str = ""
    code: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    ended: float = 0.0
    slot: str = ""


def attempts(folder: Path) -> dict[str, dict[int, str]]:
    """For each job the numbers of its attempts, each with the name of its file."""
    found: dict[str, dict[int, str]] = {}
    for entry in os.scandir(folder):
        form = _NAME.fullmatch(entry.name)
        if form is not None:
            mine = found.setdefault(form["job"], {})
            # The end counts where both are there, which only a damaged file system brings about.
            if not (form["running"] and int(form["attempt"]) in mine):
                mine[int(form["attempt"])] = entry.name
    return found


def read(folder: Path, number: int, name: str) -> Attempt:
    """One attempt; a file that is damaged, or still bears the name of one that runs, says nothing about an end."""
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
    """Where we had it ended through others, its own file can only say that something killed it."""
    return replace(attempt, ending=why) if why and attempt.ending in ("", "killed") else attempt


def is_alive(folder: Path, name: str) -> bool:
    """Whether anything of that attempt still lives: it holds the lock."""
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
