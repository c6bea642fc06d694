"""Checks that a job sees only its own GPU: its interpreter lists the GPUs under the same mask before any job starts."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Job

SCRIPT = Path(__file__).parents[1] / "payload" / "see_gpu.py"
_PYTHON = re.compile(r"(python|pypy)[\d.]*")
_SECONDS = 180.0


def check_visibility(slots: Iterable[Slot], jobs: Iterable[Job]) -> list[str]:
    """One line per GPU and interpreter. Raises an error if a job would see another GPU, or none or several."""
    by_gpu = {slot.gpu: slot for slot in slots if slot.gpu is not None}
    interpreters = {name: job for job in jobs if (name := job_interpreter(job))}
    if not by_gpu:
        return []
    if not interpreters:
        return ["not verified that jobs see one GPU: no job starts with a Python interpreter"]
    pairs = [(slot, name, job) for slot in by_gpu.values() for name, job in interpreters.items()]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(lambda pair: _check_slot(*pair), pairs))


def job_interpreter(job: Job) -> str:
    """Path of the Python interpreter that the job's command starts with; empty if it starts with another program."""
    program = job.command[0]
    if not _PYTHON.fullmatch(Path(program).name):
        return ""
    if "/" in program:
        path = Path(job.folder) / program
        return str(path) if os.access(path, os.X_OK) else ""
    return shutil.which(program, path=job.env.get("PATH", os.environ.get("PATH"))) or ""


def _check_slot(slot: Slot, python: str, job: Job) -> str:
    name = slot.name.partition("/")[0]
    env = {**os.environ, **job.env}
    for variable in slot.unset:
        env.pop(variable, None)
    ended = run([python, str(SCRIPT)], env={**env, **dict(slot.env)}, seconds=_SECONDS)
    response = _parse_response(ended.stdout) if ended.code == 0 else None
    if response is None:
        return f"{name}: not verified, {python} could not list its GPUs"
    if not response["torch"] or not response["hip"]:
        return f"{name}: not verified, {python} has no {'ROCm build of ' if response['torch'] else ''}torch"
    return _evaluate(name, slot, python, response)


def _evaluate(name: str, slot: Slot, python: str, response: dict[str, Any]) -> str:
    devices = response["devices"]
    mask = " ".join("=".join(pair) for pair in slot.env)
    if len(devices) != 1:
        raise MachineError(
            f"{python} sees {len(devices)} GPUs with {mask}; a job must see exactly one",
            hint="run `rocm3d doctor`; in a container, check its --device options",
        )
    unique = _unique_id(str(devices[0].get("uuid", "")))
    assert slot.gpu is not None
    if unique is None or not slot.gpu.unique_id:
        return f"{name}: jobs see one GPU ({devices[0].get('name', '')}); its unique id is unknown"
    if unique != slot.gpu.unique_id:
        raise MachineError(f"{python} sees another GPU with {mask}: GPU-{unique:016x}")
    return f"{name}: jobs see only this GPU"


def _parse_response(output: bytes) -> dict[str, Any] | None:
    try:
        response = json.loads(output.splitlines()[-1])
        is_valid = isinstance(response["devices"], list) and all(
            isinstance(device, dict) for device in response["devices"]
        )
        return (
            response if is_valid and isinstance(response["torch"], str) and isinstance(response["hip"], str) else None
        )
    except (ValueError, IndexError, KeyError, TypeError, RecursionError):
        return None


def _unique_id(uuid: str) -> int | None:
    """HIP stores the 16 hex digits of the unique id as the 16 bytes of the UUID; None for any other content."""
    try:
        digits = bytes.fromhex(uuid.replace("-", "")).decode("ascii")
        return int(digits, 16) if re.fullmatch("[0-9a-f]{16}", digits) else None
    except (ValueError, UnicodeDecodeError):
        return None
