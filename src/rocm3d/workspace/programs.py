"""Finds programs on PATH, but none that a repository brings along.

A relative entry of PATH (`.`, or an empty one) means the working folder, and an activated `.venv` of a repository is on
PATH too. Commands that the user names are looked up by `run_watched` as a shell would.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

_MAX_LINKS = 40
_repositories: list[Path] = []


def exclude_repository(root: Path) -> None:
    """From now on no program in this folder is found. A process works on few repositories, so none is forgotten."""
    if root not in _repositories:
        _repositories.append(root)


def search_path(environment: Mapping[str, str] = os.environ) -> str:
    """PATH without relative entries and without those in a repository."""
    entries = (entry for entry in environment.get("PATH", os.defpath).split(os.pathsep) if Path(entry).is_absolute())
    return os.pathsep.join(entry for entry in entries if not _is_in_repository(entry))


def find_program(name: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """The path of a program; None if it is not installed, or only a repository has one of this name."""
    program = shutil.which(name, path=search_path(environment) or os.devnull)
    return None if program is None or _is_in_repository(program) else program


def with_absolute_path(environment: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """The environment of a child, whose programs are not looked up in its working folder either."""
    variables = os.environ if environment is None else environment
    entries = variables.get("PATH", os.defpath).split(os.pathsep)
    absolute = [entry for entry in entries if Path(entry).is_absolute()]
    return environment if absolute == entries else {**variables, "PATH": os.pathsep.join(absolute)}


def passes_through(path: Path, root: Path) -> bool:
    """Whether resolving the path, link by link, leads into the folder, under whatever name it is mounted."""
    try:
        folder = root.stat()
    except OSError:
        return False
    return any(_identity(step) == (folder.st_dev, folder.st_ino) for step in path_steps(path))


def _is_in_repository(path: str) -> bool:
    return any(passes_through(Path(path), root) for root in _repositories)


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return (-1, -1)
    return status.st_dev, status.st_ino


def path_steps(path: Path) -> Iterator[Path]:
    """Every location on the way to the path, from the root of the file system on, through each link."""
    current, links = Path("/"), 0
    pending = list(reversed(Path(os.path.abspath(path)).parts[1:]))  # noqa: PTH100  (resolve would follow links)
    yield current
    while pending:
        part = pending.pop()
        if part == "..":
            current = current.parent
            continue
        current /= part
        yield current
        try:
            target = current.readlink()
        except (OSError, ValueError):
            continue
        links += 1
        if links > _MAX_LINKS:
            return
        current = Path("/") if target.is_absolute() else current.parent
        pending += reversed(target.parts[1:] if target.is_absolute() else target.parts)
