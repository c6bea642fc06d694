"""The GPUs that the KFD driver lists: PCI address, unique id, memory, and the index in ROCR.

Reads files below any root folder; needs no ROCm and no root. Format: node_show, mem_show and iolink_show of
https://github.com/torvalds/linux/blob/master/drivers/gpu/drm/amd/amdkfd/kfd_topology.c (one `name value` a line).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

NODES = Path("sys/class/kfd/kfd/topology/nodes")
PCI_DEVICES = Path("sys/bus/pci/devices")
# Flag bits of an io link, and the type of a PCIe link (kfd_crat.h).
_NO_ATOMICS = 0b1100
_PCIE = 2
# heap_type of GPU memory: visible and not visible to the CPU.
_GPU_HEAPS = (1, 2)
_MAX_CHARACTERS = 1 << 16


@dataclass(frozen=True)
class IoLink:
    """A connection from a GPU to another node."""

    to: int
    pcie: bool
    atomics: bool
    max_bandwidth: int = 0  # MB/s; 0: not reported by the kernel


@dataclass(frozen=True)
class GpuNode:
    """A GPU. `unique_id` is 0 and `gfx` empty if the kernel reports none; `pci` is domain:bus:device.function."""

    node: int
    gfx: str
    unique_id: int
    pci: str
    vram_bytes: int
    integrated: bool
    render_minor: int
    rocr_index: int
    simd_count: int = 0
    links: tuple[IoLink, ...] = ()

    @property
    def uuid(self) -> str:
        """The format of ROCR_VISIBLE_DEVICES; empty for a device without a unique id, which has only its index."""
        return f"GPU-{self.unique_id:016x}" if self.unique_id else ""


@dataclass(frozen=True)
class Topology:
    """All GPUs in node order, which is the order of ROCR."""

    gpus: tuple[GpuNode, ...] = ()

    def gpu_at(self, pci: str) -> GpuNode | None:
        """The GPU at a PCI address. The domain may be omitted; case does not matter."""
        address = pci.lower() if pci.count(":") == 2 else f"0000:{pci.lower()}"
        return next((gpu for gpu in self.gpus if gpu.pci == address), None)

    def gpu_with_id(self, unique_id: int) -> GpuNode | None:
        """The GPU with a unique id, or None; always None for 0."""
        return next((gpu for gpu in self.gpus if unique_id and gpu.unique_id == unique_id), None)


def read_topology(root: Path = Path("/"), integrated: frozenset[str] = frozenset()) -> Topology:
    """The topology of the machine with its files below `root`. `integrated` lists gfx ids of integrated GPUs."""
    return Topology(tuple(read_nodes(root / NODES, root / PCI_DEVICES, integrated)))


def read_nodes(nodes: Path, devices: Path, integrated: frozenset[str] = frozenset()) -> list[GpuNode]:
    """GPUs of a topology folder. Unreadable nodes are omitted, as in ROCR."""
    try:
        folders = sorted((entry for entry in nodes.iterdir() if _number(entry.name) is not None), key=_node_number)
    except OSError:
        return []
    gpus: list[GpuNode] = []
    for folder in folders:
        values = read_properties(folder / "properties")
        if values.get("gfx_target_version") or values.get("simd_count"):
            gpus.append(_gpu_node(folder, values, devices, len(gpus), integrated))
    return gpus


def _gpu_node(folder: Path, values: dict[str, int], devices: Path, index: int, integrated: frozenset[str]) -> GpuNode:
    version, location = values.get("gfx_target_version", 0), values.get("location_id", 0)
    gfx = _gfx(version) if version else ""
    pci = f"{values.get('domain', 0):04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"
    unique = values.get("unique_id", 0)
    return GpuNode(
        node=_node_number(folder),
        gfx=gfx,
        unique_id=unique,
        pci=pci,
        vram_bytes=_vram(folder) or values.get("local_mem_size", 0),
        integrated=gfx in integrated or values.get("cpu_cores_count", 0) > 0 or _is_apu(devices / pci, unique),
        render_minor=values.get("drm_render_minor", 0),
        rocr_index=index,
        simd_count=values.get("simd_count", 0),
        links=_links(folder),
    )


def _is_apu(device: Path, unique: int) -> bool:
    """Whether it is an APU: no mem_busy_percent. One old card lacks it too, but has a unique id (amdgpu_pm.c)."""
    return not unique and (device / "gpu_busy_percent").exists() and not (device / "mem_busy_percent").exists()


def _vram(folder: Path) -> int:
    banks = [read_properties(bank) for bank in sorted(folder.glob("mem_banks/*/properties"))]
    return sum(bank.get("size_in_bytes", 0) for bank in banks if bank.get("heap_type") in _GPU_HEAPS)


def _links(folder: Path) -> tuple[IoLink, ...]:
    links = [read_properties(link) for link in sorted(folder.glob("io_links/*/properties"))]
    return tuple(
        IoLink(
            to=link["node_to"],
            pcie=link.get("type") == _PCIE,
            atomics=not link.get("flags", 0) & _NO_ATOMICS,
            max_bandwidth=link.get("max_bandwidth", 0),
        )
        for link in links
        if "node_to" in link
    )


def read_properties(path: Path) -> dict[str, int]:
    """Parse `name value` lines. Values that are not integers are omitted; an unreadable file is empty."""
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            lines = file.read(_MAX_CHARACTERS).splitlines()
    except OSError:
        return {}
    numbers = ((pair[0], _number(pair[1])) for pair in map(str.split, lines) if len(pair) == 2)
    return {name: number for name, number in numbers if number is not None}


def _number(text: str) -> int | None:
    """At most 20 ASCII digits: int() would accept other digits and any length."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 20 else None


def _node_number(folder: Path) -> int:
    return _number(folder.name) or 0


def _gfx(version: int) -> str:
    """90402 is gfx942, 110000 is gfx1100, 90010 is gfx90a. The stepping is one hexadecimal digit."""
    return f"gfx{version // 10000}{version // 100 % 100}{version % 100:x}"
