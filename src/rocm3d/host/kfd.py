"""AMD GPUs of this machine by their gfx ids, from the kernel's KFD topology. Needs no ROCm and no root."""

from __future__ import annotations

from pathlib import Path

from rocm3d.workspace.topology import NODES, PCI_DEVICES, read_nodes

TOPOLOGY = Path("/") / NODES


def gpus(topology: Path = TOPOLOGY, integrated: frozenset[str] = frozenset()) -> list[str]:
    """gfx ids of the GPUs, in node order; empty without the driver. A part of the processor counts if it is alone."""
    found = [gpu for gpu in read_nodes(topology, Path("/") / PCI_DEVICES, integrated) if gpu.gfx]
    return [gpu.gfx for gpu in found if not gpu.integrated] or [gpu.gfx for gpu in found]
