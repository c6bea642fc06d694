"""Writes the Linux files of test machines below a root folder. Sources of the formats: README.md in this folder."""

from __future__ import annotations

import os
from pathlib import Path

from rocm3d.host.cards import User
from rocm3d.host.files import MachineFiles
from rocm3d.host.snapshot import MachineSource, collect_snapshot

GIB = 1 << 30
TAKEN = "2026-11-15T12:00:00Z"
RENDER = 992


def put(root: Path, path: str, text: object) -> None:
    file_path = root / path.lstrip("/")
    file_path.parent.mkdir(parents=True, exist_ok=True)
    file_path.write_text(f"{text}\n", encoding="utf-8")


def node(
    root: Path, number: int, banks: dict[int, int] | None = None, links: tuple[dict, ...] = (), **properties: int
) -> None:
    """One node of the KFD topology; `banks` are sizes by heap type."""
    node_folder = f"sys/class/kfd/kfd/topology/nodes/{number}"
    put(root, f"{node_folder}/properties", "\n".join(f"{name} {value}" for name, value in properties.items()))
    for index, (heap, size) in enumerate((banks or {}).items()):
        put(
            root,
            f"{node_folder}/mem_banks/{index}/properties",
            f"heap_type {heap}\nsize_in_bytes {size}\nflags 0\nwidth 384",
        )
    for index, link in enumerate(links):
        link_properties = {"type": 2, "version_major": 0, "node_from": number, "weight": 20, "flags": 1, **link}
        put(
            root,
            f"{node_folder}/io_links/{index}/properties",
            "\n".join(f"{name} {value}" for name, value in link_properties.items()),
        )


def pci(root: Path, *chain: str, bridges: str = "1002:1478", **files: object) -> str:
    """A PCI device behind bridges: nested folders as in sysfs, and the flat links to all of them."""
    above = "sys/devices/pci0000:00"
    for address in chain:
        above = f"{above}/{address}"
        (root / above).mkdir(parents=True, exist_ok=True)
        flat = root / "sys/bus/pci/devices" / address
        flat.parent.mkdir(parents=True, exist_ok=True)
        if not flat.is_symlink():
            flat.symlink_to(f"../../../{above.removeprefix('sys/')}")
        if address != chain[-1]:
            vendor, device = ("1022", "14db") if address == chain[0] else bridges.split(":")
            for name, value in (("vendor", f"0x{vendor}"), ("device", f"0x{device}"), ("class", "0x060400")):
                put(root, f"{above}/{name}", value)
    for name, value in files.items():
        put(root, f"{above}/{name}", value)
    return above


def driver(root: Path, device_folder: str, name: str) -> None:
    (root / "sys/bus/pci/drivers" / name).mkdir(parents=True, exist_ok=True)
    (root / device_folder / "driver").symlink_to(
        os.path.relpath(root / "sys/bus/pci/drivers" / name, root / device_folder)
    )


def iommu(root: Path, device_folder: str, number: int, kind: str) -> None:
    put(root, f"sys/kernel/iommu_groups/{number}/type", kind)
    (root / device_folder / "iommu_group").symlink_to(
        os.path.relpath(root / f"sys/kernel/iommu_groups/{number}", root / device_folder)
    )


def link(width: int, speed: str = "16.0", most: int = 16) -> dict[str, str]:
    return {
        "current_link_width": str(width), "max_link_width": str(most),
        "current_link_speed": f"{speed} GT/s PCIe", "max_link_speed": f"{speed} GT/s PCIe",
    }  # fmt: skip


def device(root: Path, path: str) -> None:
    """A regular file instead of a device: only its group and access rights are read."""
    put(root, path, "")


def system(root: Path, kernel: str, name: str, boot: str, memory: int, cpus: str, shm: int = 0) -> None:
    put(root, "etc/os-release", f'NAME="x"\nPRETTY_NAME="{name}"')
    put(root, "etc/group", f"root:x:0:\nvideo:x:44:\nrender:x:{RENDER}:")
    put(root, "proc/sys/kernel/osrelease", kernel)
    put(root, "proc/cmdline", boot)
    put(root, "proc/meminfo", f"MemTotal:    {memory >> 10} kB\nMemAvailable:    {memory * 9 // 10 >> 10} kB")
    put(root, "proc/self/status", f"Name:\tx\nCpus_allowed_list:\t{cpus}")
    put(root, "proc/self/cgroup", "0::/user.slice")
    size = f",size={shm >> 10}k" if shm else ""
    put(root, "proc/self/mountinfo",
        "22 1 0:21 / / rw - ext4 /dev/sda1 rw\n24 22 0:6 / /dev rw - devtmpfs udev rw\n"
        f"25 24 0:23 / /dev/shm rw,nosuid - tmpfs tmpfs rw{size}")  # fmt: skip
    put(root, "sys/devices/system/cpu/online", cpus)


def l3(root: Path, first: int, cpus: str, kib: int) -> None:
    cache_folder = f"sys/devices/system/cpu/cpu{first}/cache/index3"
    for name, value in (("level", 3), ("size", f"{kib}K"), ("shared_cpu_list", cpus)):
        put(root, f"{cache_folder}/{name}", value)


def numa(root: Path, nodes: int, balancing: int) -> None:
    for number in range(nodes):
        (root / f"sys/devices/system/node/node{number}").mkdir(parents=True)
    put(root, "proc/sys/kernel/numa_balancing", balancing)


def rocm(root: Path, version: str, *, compiler: bool = True) -> None:
    put(root, f"opt/rocm-{version}/.info/version", f"{version}-70200")
    if compiler:
        put(root, f"opt/rocm-{version}/bin/hipcc", "")


def mi300x(root: Path) -> None:
    """8x MI300X, two sockets, a cluster node with iommu=pt; its only problem is NUMA balancing."""
    system(root, "6.8.0-45-generic", "Ubuntu 22.04.5 LTS", "quiet iommu=pt pci=realloc=off", 1536 * GIB, "0-191")
    numa(root, 2, 1)
    put(root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor")
    for first in range(0, 192, 8):
        l3(root, first, f"{first}-{first + 7}", 32768)
    for socket in range(2):
        node(root, socket, {0: 768 * GIB}, cpu_cores_count=96, simd_count=0)
    for index in range(8):
        bus = 0x05 + 0x20 * index
        peers = tuple({"type": 11, "node_to": 2 + other} for other in range(8) if other != index)
        node(root, 2 + index, {1: 192 * GIB}, ({"node_to": index // 4}, *peers),
             cpu_cores_count=0, simd_count=1216, gfx_target_version=90402, vendor_id=4098, device_id=29857,
             location_id=bus << 8, domain=0, drm_render_minor=128 + 8 * index,
             unique_id=0xA0B0C0D000000000 + index)  # fmt: skip
        device_folder = pci(root, f"0000:{bus - 4:02x}:01.0", f"0000:{bus - 2:02x}:00.0", f"0000:{bus:02x}:00.0",
                    bridges="1000:c030", vendor="0x1002", device="0x74a1",
                    numa_node=index // 4, local_cpulist="0-95" if index < 4 else "96-191",
                    mem_info_vram_total=192 * GIB, mem_info_vis_vram_total=192 * GIB, gpu_busy_percent=0,
                    mem_busy_percent=0, power_dpm_force_performance_level="auto", current_compute_partition="SPX",
                    **{"class": "0x120000"}, **link(16, "32.0"))  # fmt: skip
        driver(root, device_folder, "amdgpu")
        iommu(root, device_folder, 10 + index, "identity")
        device(root, f"dev/dri/renderD{128 + 8 * index}")
    device(root, "dev/kfd")
    put(root, "sys/module/amdgpu/version", "6.10.5")
    rocm(root, "7.2.0")


def card(root: Path, bus: int, width: int, minor: int, number: int, above: tuple[str, ...], iommu_type: str) -> None:
    """An RX 7900 XTX: its own switch reports 16 lanes, the slot has `width` lanes."""
    node(root, number, {1: 24 * GIB}, ({"node_to": 0},),
         cpu_cores_count=0, simd_count=192, gfx_target_version=110000, vendor_id=4098, device_id=29772,
         location_id=bus << 8, domain=0, drm_render_minor=minor, unique_id=0x1D10000000000000 + number)  # fmt: skip
    upstream, downstream = f"0000:{bus - 2:02x}:00.0", f"0000:{bus - 1:02x}:00.0"
    device_folder = pci(root, *above, upstream, downstream, f"0000:{bus:02x}:00.0", bridges="1002:1478",
                vendor="0x1002", device="0x744c", numa_node=-1, local_cpulist="0-31",
                mem_info_vram_total=24 * GIB, mem_info_vis_vram_total=24 * GIB, mem_info_gtt_total=31 * GIB,
                gpu_busy_percent=0, mem_busy_percent=0, power_dpm_force_performance_level="auto",
                **{"class": "0x030000"}, **link(16))  # fmt: skip
    for name, value in link(width).items():
        put(root, f"{device_folder.rsplit('/', 2)[0]}/{name}", value)
    driver(root, device_folder, "amdgpu")
    iommu(root, device_folder, bus, iommu_type)
    device(root, f"dev/dri/renderD{minor}")


def pair(root: Path, boot: str = "quiet splash", iommu_type: str = "DMA-FQ") -> None:
    """2x RX 7900 XTX, one of them behind the chipset with 4 lanes, and the integrated GPU of a Ryzen 9 7950X3D."""
    system(root, "6.14.0-29-generic", "Ubuntu 24.04.3 LTS", f"root=UUID=1234 {boot}", 64 * GIB, "0-31")
    numa(root, 1, 0)
    put(root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD Ryzen 9 7950X3D 16-Core Processor")
    l3(root, 0, "0-7,16-23", 98304)
    l3(root, 8, "8-15,24-31", 32768)
    node(root, 0, {0: 64 * GIB}, cpu_cores_count=32, simd_count=0)
    card(root, 0x03, 16, 128, 1, ("0000:00:01.1",), iommu_type)
    pci(root, "0000:00:02.1", "0000:05:00.0", "0000:06:08.0", bridges="1022:43f4",
        vendor="0x1022", device="0x43f5", **{"class": "0x060400"}, **link(4, most=4))  # fmt: skip
    card(root, 0x0A, 4, 129, 2, ("0000:00:02.1", "0000:05:00.0", "0000:06:08.0"), iommu_type)
    put(root, "sys/devices/pci0000:00/0000:00:02.1/0000:05:00.0/device", "0x43f4")
    put(root, "sys/devices/pci0000:00/0000:00:02.1/0000:05:00.0/vendor", "0x1022")
    node(root, 3, {1: GIB // 2}, ({"node_to": 0},),
         cpu_cores_count=0, simd_count=4, gfx_target_version=100306, vendor_id=4098, device_id=5710,
         location_id=0x1300, domain=0, drm_render_minor=130, unique_id=0)  # fmt: skip
    inside = pci(root, "0000:00:08.1", "0000:13:00.0", vendor="0x1002", device="0x164e", gpu_busy_percent=0,
                 mem_info_vram_total=GIB // 2, mem_info_vis_vram_total=GIB // 2, mem_info_gtt_total=31 * GIB,
                 **{"class": "0x030000"}, **link(16))  # fmt: skip
    driver(root, inside, "amdgpu")
    iommu(root, inside, 40, iommu_type)
    device(root, "dev/dri/renderD130")
    device(root, "dev/kfd")
    rocm(root, "6.4.3")


def wsl2(root: Path) -> None:
    """WSL 2 with AMD's driver on Windows: no KFD, no PCI device, one /dev/dxg."""
    system(root, "6.6.87.2-microsoft-standard-WSL2", "Ubuntu 24.04.4 LTS", "initrd=\\initrd.img", 31 * GIB, "0-15")
    put(root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD Ryzen 7 7800X3D 8-Core Processor")
    put(root, "usr/lib/wsl/lib/libdxcore.so", "")
    device(root, "dev/dxg")
    rocm(root, "6.4.2")


def person(*groups: int, uid: int = 1000) -> User:
    return User(uid, frozenset(groups))


def snapshot(root: Path, knowledge, environment=None, interpreter: Path | None = None, user: User | None = None):
    machine = MachineSource(
        MachineFiles(root), {"HOME": "/home/someone", **(environment or {})}, "/home/someone", interpreter,
        "no Python with torch found", user or person(os.getgid()),
    )  # fmt: skip
    return collect_snapshot(machine, knowledge, TAKEN)
