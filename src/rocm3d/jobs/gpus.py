"""GPUs for jobs, selected by unique id or PCI address, and the mask that makes only one GPU visible to a job.

Before any job starts, its interpreter lists the GPUs under the same mask.

ROCR numbers devices like the kernel; HIP numbers the devices that ROCR makes visible. With a single mask no device is
filtered twice (ROCm documentation, GPU isolation techniques).
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.model.errors import MachineError, UserError
from rocm3d.workspace.process import run
from rocm3d.workspace.topology import PCI_DEVICES, GpuNode, Topology

if TYPE_CHECKING:
    from rocm3d.jobs.slots import Slot
    from rocm3d.jobs.specification import Job

ROCR = "ROCR_VISIBLE_DEVICES"
HIP = "HIP_VISIBLE_DEVICES"
MASKS = (ROCR, HIP, "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
SCRIPT = Path(__file__).parents[1] / "payload" / "see_gpu.py"
_SECONDS = 180.0
_PYTHON = re.compile(r"(python|pypy)[\d.]*")
_UNIQUE = re.compile(r"(?:GPU-|0x)?([0-9a-f]{16})", re.IGNORECASE)
_PCI = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)


def select_gpus(names: Sequence[str] | None, topology: Topology, environment: Mapping[str, str]) -> tuple[GpuNode, ...]:
    """The named GPUs. Without names: all discrete GPUs that the masks of our own environment leave visible."""
    if names is None:
        return tuple(gpu for gpu in _visible_gpus(topology.gpus, environment) if not gpu.integrated)
    selected = [_gpu_by_name(name, topology) for name in names]
    for name, gpu in zip(names, selected, strict=True):
        if selected.count(gpu) > 1:
            raise UserError(f"gpus: {name} is listed twice", hint="list each GPU once; for several jobs use per-gpu")
    return tuple(selected)


def _gpu_by_name(name: str, topology: Topology) -> GpuNode:
    unique, pci = _UNIQUE.fullmatch(name.strip()), _PCI.fullmatch(name.strip())
    if unique is None and pci is None:
        raise UserError(
            f"gpus: {name!r} is neither a unique id nor a PCI address",
            hint="for example GPU-4b2c1a9f8d3e6f7a or 0000:03:00.0; an index can change when the machine restarts",
        )
    gpu = topology.gpu_with_id(int(unique[1], 16)) if unique else topology.gpu_at(name.strip())
    if gpu is None:
        available = ", ".join(stable_name(node) for node in topology.gpus) or "none"
        raise MachineError(f"gpus: {name} is not on this machine", hint=f"GPUs of this machine: {available}")
    return gpu


def _visible_gpus(gpus: Sequence[GpuNode], environment: Mapping[str, str]) -> list[GpuNode]:
    """GPUs that the masks of the environment leave visible; HIP's indices count the GPUs that ROCR shows."""
    visible = list(gpus)
    for name in (ROCR, HIP):
        if environment.get(name, "").strip():
            visible = _apply_mask(visible, environment[name], by_index=name == HIP)
    return visible


def _apply_mask(gpus: list[GpuNode], mask: str, *, by_index: bool) -> list[GpuNode]:
    entries = {entry.strip().lower() for entry in mask.split(",")} - {""}
    return [
        gpu
        for position, gpu in enumerate(gpus)
        if entries & {str(position if by_index else gpu.rocr_index), gpu.uuid.lower()}
    ]


def stable_name(gpu: GpuNode) -> str:
    """A name that is stable across restarts: the unique id, else the PCI address."""
    return gpu.uuid or gpu.pci


def rocr_mask(gpu: GpuNode) -> str:
    """Value for ROCR_VISIBLE_DEVICES: the unique id, or the index of a device without one."""
    return gpu.uuid or str(gpu.rocr_index)


def hip_mask(environment: Mapping[str, str], topology: Topology) -> str:
    """Combines both masks into one HIP_VISIBLE_DEVICES value: Ray refuses ROCR_VISIBLE_DEVICES."""
    if not topology.gpus:
        return environment.get(HIP, environment.get(ROCR, ""))
    return ",".join(str(gpu.rocr_index) for gpu in _visible_gpus(topology.gpus, environment))


def free_vram(gpu: GpuNode, root: Path = Path("/")) -> int | None:
    """Bytes of unused VRAM; None if the driver does not report it."""
    device = root / PCI_DEVICES / gpu.pci
    total, used = (_read_number(device / f"mem_info_vram_{name}") for name in ("total", "used"))
    return None if total is None or used is None else max(0, total - used)


def total_vram(gpu: GpuNode, root: Path = Path("/")) -> int | None:
    """Bytes of VRAM; None if unknown."""
    return _read_number(root / PCI_DEVICES / gpu.pci / "mem_info_vram_total") or gpu.vram_bytes or None


def _read_number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdecimal() and len(text) <= 20 else None


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
    env = {key: value for key, value in {**os.environ, **job.env}.items() if key not in slot.unset}
    ended = run([python, str(SCRIPT)], env={**env, **dict(slot.env)}, seconds=_SECONDS)
    response = _parse_response(ended.stdout) if ended.code == 0 else None
    if response is None:
        return f"{name}: not verified, {python} could not list its GPUs"
    if not response["torch"] or not response["hip"]:
        return f"{name}: not verified, {python} has no {'ROCm build of ' if response['torch'] else ''}torch"
    return _evaluate(name, slot, python, response["devices"])


def _evaluate(name: str, slot: Slot, python: str, devices: list[dict[str, Any]]) -> str:
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
        devices, versions = response["devices"], (response["torch"], response["hip"])
    except (ValueError, IndexError, KeyError, TypeError, RecursionError):
        return None
    is_valid = isinstance(devices, list) and all(isinstance(device, dict) for device in devices)
    return response if is_valid and all(isinstance(version, str) for version in versions) else None


def _unique_id(uuid: str) -> int | None:
    """HIP stores the 16 hex digits of the unique id as the 16 bytes of the UUID; None for any other content."""
    try:
        digits = bytes.fromhex(uuid.replace("-", "")).decode("ascii")
        return int(digits, 16) if re.fullmatch("[0-9a-f]{16}", digits) else None
    except (ValueError, UnicodeDecodeError):
        return None
