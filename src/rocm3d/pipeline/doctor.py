"""Takes or reads a snapshot of a machine, and diagnoses it with the knowledge base and a plan."""

from __future__ import annotations

import os
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

from rocm3d.host.diagnosis import diagnose
from rocm3d.host.files import MachineFiles
from rocm3d.host.interpreter import find_interpreter
from rocm3d.host.snapshot import MachineSource, collect_snapshot
from rocm3d.knowledge.base import Knowledge
from rocm3d.model.base import Document
from rocm3d.model.condition import Diagnosis
from rocm3d.model.errors import MachineError, UserError
from rocm3d.model.plan import Plan
from rocm3d.model.snapshot import Snapshot
from rocm3d.render.sanitize import clean
from rocm3d.workspace.documents import Documents, write_chunks
from rocm3d.workspace.state import STATE_FOLDER

MAX_BYTES = 16 << 20
_MAX_SHOWN = 300

D = TypeVar("D", bound=Document)


def take_snapshot(
    interpreter: Path | None, knowledge: Knowledge, root: Path = Path("/"), repository: Path | None = None
) -> Snapshot:
    """Of this machine, or of the files below `root`. If no interpreter is found, the snapshot has the reason.

    `repository` (default: the current folder) is where no interpreter is run unless it is passed.
    """
    if sys.platform != "linux":
        hint = "run `rocm3d doctor --save FILE` there, then `rocm3d doctor --from FILE` on this machine"
        raise MachineError("a snapshot needs Linux or WSL 2", hint=hint)
    python, problem = None, ""
    try:
        python = find_interpreter(repository or Path.cwd(), interpreter)
    except MachineError as error:
        problem = f"{error.message}: {error.hint}"
    home = os.environ.get("HOME", "")
    machine = MachineSource(MachineFiles(root), os.environ, home, python, problem)
    return collect_snapshot(machine, knowledge, datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))


def save_snapshot(snapshot: Snapshot, path: Path) -> None:
    try:
        write_chunks(path, snapshot.to_json())
    except OSError as error:
        raise UserError(f"--save {path}: {error.strerror}") from error


def read_snapshot(path: Path) -> Snapshot:
    """Raises UserError with a one-line message for a file that is not a snapshot."""
    return _read(path, Snapshot, "--from", "write one with `rocm3d doctor --save FILE`")


def read_plan(path: Path) -> Plan:
    """`path` is a plan.json, or a repository with one in its work folder."""
    if path.is_dir():
        return Documents(path / STATE_FOLDER).read(Plan)
    return _read(path, Plan, "--plan", "write one with `rocm3d plan PATH`")


def examine(snapshot: Snapshot, knowledge: Knowledge, plan: Plan | None) -> Diagnosis:
    return diagnose(snapshot, knowledge, plan)


def _read(path: Path, kind: type[D], option: str, hint: str) -> D:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise UserError(f"{option} {path}: {reason}", hint=hint) from error
    if len(data) > MAX_BYTES:
        raise UserError(f"{option} {path} is larger than {MAX_BYTES >> 20} MiB", hint=hint)
    try:
        return kind.from_json(text, f"{option} {path}")
    except UserError as error:
        # The message quotes keys and versions of an untrusted file.
        newer = clean(error.hint)[:_MAX_SHOWN] if error.hint.startswith("install") else hint
        raise UserError(clean(error.message)[:_MAX_SHOWN], hint=newer) from None
