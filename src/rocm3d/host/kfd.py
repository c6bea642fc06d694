"""gfx ids of this machine's AMD GPUs, from the kernel's KFD topology. Needs neither ROCm nor root."""

from __future__ import annotations

from pathlib import Path

from rocm3d.workspace.topology import NODES, PCI_DEVICES, read_nodes

TOPOLOGY = Path("/") / NODES


def gpus(topology: Path = TOPOLOGY, integrated: frozenset[str] = frozenset()) -> list[str]:
    """gfx ids in node order; empty without the driver. Integrated GPUs are listed only if there is no other."""
    nodes = [gpu for gpu in read_nodes(topology, Path("/") / PCI_DEVICES, integrated) if gpu.gfx]
    return [gpu.gfx for gpu in nodes if not gpu.integrated] or [gpu.gfx for gpu in nodes]
