"""CPU, L3 caches, main memory, container limits of both, and shared memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocm3d.host.files import MachineFiles, Mount, find_mount
from rocm3d.model.snapshot import CacheGroup, Processor

_CPU = "/sys/devices/system/cpu"
_CGROUPS = "/sys/fs/cgroup"
_UNLIMITED = 1 << 60
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "": 1}


def read_processor(files: MachineFiles, mounts: Sequence[Mount]) -> Processor:
    """Read everything from /proc and /sys; unknown values are 0 or empty."""
    memory = dict(_memory_info(files))
    model = re.search(r"^model name\s*:\s*(.+)$", files.text("/proc/cpuinfo"), re.MULTILINE)
    allowed = re.search(r"^Cpus_allowed_list:\s*([\d,-]+)$", files.text("/proc/self/status"), re.MULTILINE)
    cpus = count_cpus(files.text(f"{_CPU}/online"))
    return Processor(
        model=model.group(1).strip()[:200] if model else "",
        cpus=cpus,
        usable_cpus=_usable_cpus(files, count_cpus(allowed.group(1)) if allowed else cpus),
        l3=tuple(_l3_caches(files)),
        numa_nodes=len(files.glob_names("/sys/devices/system/node", "node[0-9]*")),
        numa_balancing=files.text("/proc/sys/kernel/numa_balancing")[:8],
        memory_bytes=memory.get("MemTotal", 0),
        available_bytes=memory.get("MemAvailable", 0),
        memory_limit=_memory_limit(files),
        shm_bytes=_shm_bytes(mounts, memory.get("MemTotal", 0)),
    )


def count_cpus(cpulist: str) -> int:
    """Number of CPUs in a list like `0-7,16-23`; 0 for an invalid list."""
    total = 0
    for part in cpulist.split(",") if re.fullmatch(r"[\d,-]{1,4096}", cpulist) else ():
        first, _, last = part.partition("-")
        if first.isdecimal() and len(first) < 7 and (not last or (last.isdecimal() and len(last) < 7)):
            total += max(0, int(last or first) - int(first) + 1)
    return total


def _memory_info(files: MachineFiles) -> Iterator[tuple[str, int]]:
    for name, kib in re.findall(r"^(\w+):\s+(\d{1,15}) kB$", files.text("/proc/meminfo"), re.MULTILINE):
        yield name, int(kib) << 10


def _l3_caches(files: MachineFiles) -> Iterator[CacheGroup]:
    known_groups = set()
    for cpu in sorted(files.glob_names(_CPU, "cpu[0-9]*"), key=lambda name: (len(name), name)):
        for index in files.glob_names(f"{_CPU}/{cpu}/cache", "index*"):
            cache_folder = f"{_CPU}/{cpu}/cache/{index}"
            size = re.fullmatch(r"(\d{1,9})K", files.text(f"{cache_folder}/size"))
            cpus = files.text(f"{cache_folder}/shared_cpu_list")
            if files.number(f"{cache_folder}/level") == 3 and size and cpus not in known_groups and count_cpus(cpus):
                known_groups.add(cpus)
                yield CacheGroup(kib=int(size.group(1)), cpus=cpus)


def _control_groups(files: MachineFiles, controller: str) -> Iterator[str]:
    """Folders of this process's control groups (v1 and v2), from its own up to the root."""
    for line in files.text("/proc/self/cgroup").splitlines():
        _, _, remainder = line.partition(":")
        controllers, _, path = remainder.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        parts = [part for part in path.split("/") if part and part != ".."]
        for depth in range(len(parts), -1, -1):
            yield "/".join((_CGROUPS, *((controller,) if controllers else ()), *parts[:depth]))


def _memory_limit(files: MachineFiles) -> int:
    names = ("memory.max", "memory.limit_in_bytes")
    limits = [files.number(f"{group}/{name}") for group in _control_groups(files, "memory") for name in names]
    return min((limit for limit in limits if 0 < limit < _UNLIMITED), default=0)


def _usable_cpus(files: MachineFiles, cpus: int) -> int:
    """CPU time quota as a number of CPUs, rounded up."""
    limits = [cpus]
    for group in _control_groups(files, "cpu"):
        quota_and_period = files.text(f"{group}/cpu.max").split() or [
            files.text(f"{group}/cpu.cfs_quota_us"),
            files.text(f"{group}/cpu.cfs_period_us"),
        ]
        if (
            len(quota_and_period) == 2
            and all(value.isdecimal() and len(value) < 16 for value in quota_and_period)
            and int(quota_and_period[1])
        ):
            limits.append(-(-int(quota_and_period[0]) // int(quota_and_period[1])))
    return min((limit for limit in limits if limit), default=0)


def _shm_bytes(mounts: Sequence[Mount], memory: int) -> int:
    """tmpfs lists its size only if it differs from the default, half of the memory."""
    mount = find_mount("/dev/shm", mounts)  # noqa: S108  (not a temporary file: the mount itself is checked)
    if mount is None or mount.filesystem != "tmpfs" or mount.point not in ("/dev/shm", "/run/shm"):  # noqa: S108
        return 0
    size = re.search(r"(?:^|,)size=(\d{1,15})([kmg]?)(?:,|$)", mount.options)
    return int(size.group(1)) * _UNITS[size.group(2)] if size else memory // 2
