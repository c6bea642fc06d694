"""AMD GPUs with their links to the CPU: the KFD topology joined with PCI and amdgpu files in sysfs.

Formats: Documentation/ABI/testing/sysfs-bus-pci and Documentation/gpu/amdgpu of https://github.com/torvalds/linux.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.model.snapshot import Bridge, GraphicsCard
from rocm3d.workspace.topology import NODES, PCI_DEVICES, GpuNode, read_topology

if TYPE_CHECKING:
    from rocm3d.host.files import Files

_AMD = "0x1002"
# PCI classes: display controller, and processing accelerator (Instinct).
_CLASSES = ("0x03", "0x12")
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_GFX = re.compile(r"gfx[0-9a-f]{3,6}")
_CPULIST = re.compile(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*")


def read_cards(files: Files, integrated: frozenset[str]) -> tuple[GraphicsCard, ...]:
    """GPUs in KFD order, then those that the compute driver does not know."""
    known, withheld = read_topology(files.root, integrated).gpus, _withheld(files)
    found = [_known(files, gpu) for gpu in known]
    addresses = {_whole(gpu.pci) for gpu in known}
    for name in filter(_ADDRESS.fullmatch, files.match(str(PCI_DEVICES), "*:*")):
        place = f"{PCI_DEVICES}/{name}"
        is_amd = files.text(f"{place}/vendor") == _AMD and files.text(f"{place}/class").startswith(_CLASSES)
        card = _measured(files, place, GraphicsCard(pci=name, kfd=False)) if is_amd and name not in addresses else None
        # KFD nodes that this process may not read are GPUs outside its container or job, not a problem.
        if card is not None and not (withheld and card.driver == "amdgpu"):
            found.append(card)
    return tuple(found)


def _withheld(files: Files) -> bool:
    places = [f"{NODES}/{name}/properties" for name in files.match(str(NODES), "[0-9]*")]
    return any(files.there(place) and not files.readable(place) for place in places)


def _whole(pci: str) -> str:
    """Partitions of a GPU use the PCI function as their number; the device itself is function 0."""
    return f"{pci[:-1]}0"


def _known(files: Files, gpu: GpuNode) -> GraphicsCard:
    link = next((link for link in gpu.links if link.pcie), None)
    place = f"{PCI_DEVICES}/{gpu.pci}"
    card = GraphicsCard(
        pci=gpu.pci,
        node=gpu.node,
        gfx=gpu.gfx if _GFX.fullmatch(gpu.gfx) else "",
        uuid=gpu.uuid,
        rocr_index=gpu.rocr_index,
        render_minor=gpu.render_minor,
        simd_count=gpu.simd_count,
        integrated=gpu.integrated,
        vram_bytes=gpu.vram_bytes,
        atomics=None if link is None else link.atomics,
    )
    return _measured(files, place if files.there(place) else f"{PCI_DEVICES}/{_whole(gpu.pci)}", card)


def _measured(files: Files, place: str, card: GraphicsCard) -> GraphicsCard:
    chain = _chain(files, place)
    driver = files.leads_to(f"{place}/driver")
    # The card's own switch always reports full width, so take the narrowest link of the chain.
    widths = [width for step in chain if (width := files.number(f"{step}/current_link_width"))]
    speeds = [speed for step in chain if (speed := _speed(files, f"{step}/current_link_speed"))]
    node = files.text(f"{place}/numa_node")
    cpus = files.text(f"{place}/local_cpulist")
    return card.model_copy(
        update={
            "driver": driver.name if driver else "",
            "vram_bytes": card.vram_bytes or files.number(f"{place}/mem_info_vram_total"),
            "visible_bytes": files.number(f"{place}/mem_info_vis_vram_total"),
            "gtt_bytes": files.number(f"{place}/mem_info_gtt_total"),
            "width": min(widths, default=0),
            "max_width": files.number(f"{place}/max_link_width"),
            "speed": min(speeds, default=0),
            "max_speed": _speed(files, f"{place}/max_link_speed"),
            "iommu": files.text(f"{place}/iommu_group/type")[:32],
            "numa_node": int(node) if re.fullmatch(r"\d{1,6}", node) else -1,
            "cpus": cpus if _CPULIST.fullmatch(cpus) else "",
            "compute_partition": files.text(f"{place}/current_compute_partition")[:32],
            "performance_level": files.text(f"{place}/power_dpm_force_performance_level")[:32],
            "bridges": tuple(_bridge(files, step) for step in chain[:-1]),
        }
    )


def _chain(files: Files, place: str) -> list[str]:
    """Bridges from the bus root to a device, then the device. In sysfs a device folder is inside that of its bridge."""
    real = files.leads_to(place)
    names = [part for part in real.parts if _ADDRESS.fullmatch(part)] if real else []
    # The link of a root port is that of the device below it, so skip the root port.
    return [f"{PCI_DEVICES}/{name}" for name in names[1:] or names] or [place]


def _bridge(files: Files, place: str) -> Bridge:
    vendor, device = (files.text(f"{place}/{name}").removeprefix("0x")[:8] for name in ("vendor", "device"))
    return Bridge(
        pci=place.rpartition("/")[2],
        id=f"{vendor}:{device}",
        width=files.number(f"{place}/current_link_width"),
        max_width=files.number(f"{place}/max_link_width"),
    )


def _speed(files: Files, name: str) -> float:
    """GT/s from a text like `16.0 GT/s PCIe`; 0 if unknown."""
    found = re.match(r"(\d{1,4}(?:\.\d{1,3})?) GT/s", files.text(name))
    return float(found.group(1)) if found else 0.0
