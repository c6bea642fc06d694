"""Which interpreter a command may run that the user does not name: never one that came with a repository."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from rocm3d.model.errors import MachineError, UserError
from rocm3d.workspace.programs import passes_through

_FILES = ("", "pyvenv.cfg", "bin/python", "lib", "lib64")
_PACKAGES = "lib*/python*/site-packages"


def find_interpreter(root: Path, requested: Path | None) -> Path:
    """The requested interpreter, else that of the active virtual environment; never our own. The path is absolute.

    An environment that lies in the repository, or leads into it, is code of the repository: only `requested` runs it.
    """
    if requested is not None:
        if not requested.is_file():
            raise UserError(f"--python {requested}: no such file")
        return _absolute(requested)
    own, in_repository = Path(sys.prefix).resolve(), list[Path]()
    active = os.environ.get("VIRTUAL_ENV")
    for environment in (*([Path(active)] if active else []), root / ".venv"):
        interpreter = _absolute(environment / "bin" / "python")
        if environment.resolve() == own or not interpreter.is_file():
            continue
        if not any(leads_into(environment, tree) for tree in _trees(root)):
            return interpreter
        in_repository.append(interpreter)
    if in_repository:
        raise MachineError(
            f"{in_repository[-1]} is part of the repository, so it runs only if you name it",
            hint=f"pass --python {shlex.quote(str(in_repository[-1]))}",
        )
    raise MachineError("no Python environment found", hint="pass --python path/to/python")


def leads_into(environment: Path, root: Path) -> bool:
    """Whether a virtual environment, its interpreter, its packages or its base interpreter are in the folder."""
    return any(passes_through(path, root) for path in _parts(environment))


def _parts(environment: Path) -> Iterator[Path]:
    yield from (environment / name for name in _FILES)
    yield from sorted(environment.glob(_PACKAGES))
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for key, _, value in (line.partition("=") for line in lines[:100]):
        if key.strip() in ("home", "executable", "base-prefix", "base-executable") and value.strip():
            yield Path(value.strip().replace("\0", ""))


def _trees(root: Path) -> Iterator[Path]:
    """The folder, and the git checkout that it is part of; a home folder under git is not a repository to port."""
    yield root
    home = Path.home().resolve()
    resolved = root.resolve()
    checkout = next((folder for folder in (resolved, *resolved.parents) if (folder / ".git").exists()), None)
    if checkout is not None and checkout not in (home, *home.parents):
        yield checkout


def _absolute(path: Path) -> Path:
    """Absolute, without following links: an interpreter finds its environment by the path that it is called by."""
    return Path(os.path.abspath(path))  # noqa: PTH100
