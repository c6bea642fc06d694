"""GPUs for jobs, selected by unique id or PCI address, and the mask that makes only one GPU visible to a job.

ROCR numbers devices like the kernel; HIP numbers the devices that ROCR makes visible. With a single mask no device is
filtered twice (ROCm documentation, GPU isolation techniques).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocm3d.model.errors import MachineError, UserError
from rocm3d.workspace.topology import PCI_DEVICES, GpuNode, Topology

ROCR = "ROCR_VISIBLE_DEVICES"
HIP = "HIP_VISIBLE_DEVICES"
MASKS = (ROCR, HIP, "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
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
    visible: list[GpuNode] = []
    for position, gpu in enumerate(gpus):
        index = position if by_index else gpu.rocr_index
        if any(entry.strip().lower() in (str(index), gpu.uuid.lower() or str(index)) for entry in mask.split(",")):
            visible.append(gpu)
    return visible


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
