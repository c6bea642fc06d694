"""AMD GPUs with their links to the CPU, from the KFD topology and sysfs, and the device files that programs open.

Formats: Documentation/ABI/testing/sysfs-bus-pci and Documentation/gpu/amdgpu of https://github.com/torvalds/linux.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass

from rocm3d.host.files import MachineFiles
from rocm3d.model.snapshot import Bridge, DeviceFile, GraphicsCard
from rocm3d.workspace.topology import NODES, PCI_DEVICES, GpuNode, read_topology

_AMD = "0x1002"
# PCI classes: display controller, and processing accelerator (Instinct).
_GPU_CLASSES = ("0x03", "0x12")
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_GFX = re.compile(r"gfx[0-9a-f]{3,6}")
_CPULIST = re.compile(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*")
DEVICE_PATHS = ("/dev/kfd", "/dev/dxg")
RENDER_FOLDER = "/dev/dri"


def read_cards(files: MachineFiles, integrated: frozenset[str]) -> tuple[GraphicsCard, ...]:
    """GPUs in KFD order, then those that the compute driver does not know."""
    known, has_hidden_nodes = read_topology(files.root, integrated).gpus, _has_hidden_nodes(files)
    cards = [_kfd_card(files, gpu) for gpu in known]
    addresses = {_device_address(gpu.pci) for gpu in known}
    for name in filter(_ADDRESS.fullmatch, files.glob_names(str(PCI_DEVICES), "*:*")):
        device_folder = f"{PCI_DEVICES}/{name}"
        is_amd = files.text(f"{device_folder}/vendor") == _AMD and files.text(f"{device_folder}/class").startswith(
            _GPU_CLASSES
        )
        card = (
            _with_device_values(files, device_folder, GraphicsCard(pci=name, kfd=False))
            if is_amd and name not in addresses
            else None
        )
        # KFD nodes that this process may not read are GPUs outside its container or job, not a problem.
        if card is not None and not (has_hidden_nodes and card.driver == "amdgpu"):
            cards.append(card)
    return tuple(cards)


def _has_hidden_nodes(files: MachineFiles) -> bool:
    paths = [f"{NODES}/{name}/properties" for name in files.glob_names(str(NODES), "[0-9]*")]
    return any(files.exists(path) and not files.is_readable(path) for path in paths)


def _device_address(pci: str) -> str:
    """Partitions of a GPU use the PCI function as their number; the device itself is function 0."""
    return f"{pci[:-1]}0"


def _kfd_card(files: MachineFiles, gpu: GpuNode) -> GraphicsCard:
    link = next((link for link in gpu.links if link.pcie), None)
    device_folder = f"{PCI_DEVICES}/{gpu.pci}"
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
    return _with_device_values(
        files, device_folder if files.exists(device_folder) else f"{PCI_DEVICES}/{_device_address(gpu.pci)}", card
    )


def _with_device_values(files: MachineFiles, device_folder: str, card: GraphicsCard) -> GraphicsCard:
    chain = _bridge_chain(files, device_folder)
    driver = files.resolve(f"{device_folder}/driver")
    # The card's own switch always reports full width, so take the narrowest link of the chain.
    widths = [width for step in chain if (width := files.number(f"{step}/current_link_width"))]
    speeds = [speed for step in chain if (speed := _link_speed(files, f"{step}/current_link_speed"))]
    node = files.text(f"{device_folder}/numa_node")
    cpus = files.text(f"{device_folder}/local_cpulist")
    return card.model_copy(
        update={
            "driver": driver.name if driver else "",
            "vram_bytes": card.vram_bytes or files.number(f"{device_folder}/mem_info_vram_total"),
            "visible_bytes": files.number(f"{device_folder}/mem_info_vis_vram_total"),
            "gtt_bytes": files.number(f"{device_folder}/mem_info_gtt_total"),
            "width": min(widths, default=0),
            "max_width": files.number(f"{device_folder}/max_link_width"),
            "speed": min(speeds, default=0),
            "max_speed": _link_speed(files, f"{device_folder}/max_link_speed"),
            "iommu": files.text(f"{device_folder}/iommu_group/type")[:32],
            "numa_node": int(node) if re.fullmatch(r"\d{1,6}", node) else -1,
            "cpus": cpus if _CPULIST.fullmatch(cpus) else "",
            "compute_partition": files.text(f"{device_folder}/current_compute_partition")[:32],
            "performance_level": files.text(f"{device_folder}/power_dpm_force_performance_level")[:32],
            "bridges": tuple(_bridge(files, step) for step in chain[:-1]),
        }
    )


def _bridge_chain(files: MachineFiles, device_folder: str) -> list[str]:
    """Bridges from the bus root to a device, then the device. In sysfs a device folder is inside that of its bridge."""
    real = files.resolve(device_folder)
    names = [part for part in real.parts if _ADDRESS.fullmatch(part)] if real else []
    # The link of a root port is that of the device below it, so skip the root port.
    return [f"{PCI_DEVICES}/{name}" for name in names[1:] or names] or [device_folder]


def _bridge(files: MachineFiles, device_folder: str) -> Bridge:
    vendor, device = (files.text(f"{device_folder}/{name}").removeprefix("0x")[:8] for name in ("vendor", "device"))
    return Bridge(
        pci=device_folder.rpartition("/")[2],
        id=f"{vendor}:{device}",
        width=files.number(f"{device_folder}/current_link_width"),
        max_width=files.number(f"{device_folder}/max_link_width"),
    )


def _link_speed(files: MachineFiles, name: str) -> float:
    """GT/s from a text like `16.0 GT/s PCIe`; 0 if unknown."""
    match = re.match(r"(\d{1,4}(?:\.\d{1,3})?) GT/s", files.text(name))
    return float(match.group(1)) if match else 0.0


@dataclass(frozen=True)
class User:
    """User and group ids; group names come from /etc/group of the machine."""

    uid: int
    groups: frozenset[int]

    @classmethod
    def current(cls) -> User:
        """The user of this process."""
        return cls(os.geteuid(), frozenset((*os.getgroups(), os.getegid())))


def read_devices(files: MachineFiles, user: User) -> tuple[DeviceFile, ...]:
    """/dev/kfd and /dev/dxg if they exist, and every render node."""
    names = _group_names_by_id(files)
    nodes = filter(re.compile(r"renderD\d{1,6}").fullmatch, files.glob_names(RENDER_FOLDER, "renderD*"))
    paths = [*DEVICE_PATHS, *(f"{RENDER_FOLDER}/{name}" for name in nodes)]
    return tuple(device for path in paths if (device := _read_device(files, path, user, names)) is not None)


def group_names(files: MachineFiles, user: User) -> tuple[str, ...]:
    """The user's groups that own a device, and render and video. Other groups are private and left out."""
    names = _group_names_by_id(files)
    owning = {device.group for device in read_devices(files, user)}
    mine = (names.get(number, str(number)) for number in user.groups)
    return tuple(sorted(name for name in mine if name in owning or name in ("render", "video")))


def _read_device(files: MachineFiles, path: str, user: User, names: dict[int, str]) -> DeviceFile | None:
    device_path = files.path(path)
    try:
        status = device_path.stat()
    except OSError:
        return None
    return DeviceFile(
        path=path,
        usable=os.access(device_path, os.R_OK | os.W_OK),
        group=names.get(status.st_gid, str(status.st_gid)),
        member=status.st_gid in user.groups,
        mode=stat.filemode(status.st_mode),
    )


def _group_names_by_id(files: MachineFiles) -> dict[int, str]:
    names = {}
    for line in files.text("/etc/group").splitlines():
        parts = line.split(":")
        named = len(parts) >= 3 and re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,63}", parts[0])
        if named and re.fullmatch(r"[0-9]{1,10}", parts[2]):
            names[int(parts[2])] = parts[0]
    return names
