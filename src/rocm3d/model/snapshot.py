"""A snapshot of a machine: `rocm3d doctor --save` writes it and `--from` reads it.

No user name, host name or network address; variables are redacted. Every number and list is bounded, because a snapshot
may come from an untrusted source.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rocm3d.model.base import Document, Record

Count = Annotated[int, Field(ge=0, lt=1 << 63)]
LongText = Annotated[str, Field(max_length=4096)]
ShortText = Annotated[str, Field(max_length=256)]
Cpus = Annotated[str, Field(max_length=1024, pattern=r"^(\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*)?$")]
"""A list of processors as Linux writes it: 0-7,16-23."""
# These values can appear in commands that a user copies, so their patterns are strict.
Address = Annotated[str, Field(pattern=r"^[0-9a-f]{1,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")]
GfxName = Annotated[str, Field(pattern=r"^(gfx[0-9a-f]{3,6})?$")]
Uuid = Annotated[str, Field(pattern=r"^(GPU-[0-9a-f]{16,17})?$")]
DevicePath = Annotated[str, Field(pattern=r"^/dev/[\w/.-]{1,200}$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][\w.-]{0,127}$")]
_MANY = Field(default=(), max_length=4096)


class Bridge(Record):
    """A PCI bridge between a GPU and the CPU. `id` is vendor:device."""

    pci: ShortText
    id: ShortText
    width: Count = 0
    max_width: Count = 0


class GraphicsCard(Record):
    """An AMD GPU on the PCI bus. `kfd` is False if the compute driver (KFD) does not list it.

    `width` is the narrowest link between card and CPU. None and "" mean that the kernel does not report the value.
    """

    pci: Address
    kfd: bool = True
    node: Count = 0
    gfx: GfxName = ""
    uuid: Uuid = ""
    rocr_index: Count = 0
    render_minor: Count = 0
    simd_count: Count = 0
    integrated: bool = False
    driver: ShortText = ""
    vram_bytes: Count = 0
    visible_bytes: Count = 0
    gtt_bytes: Count = 0
    width: Count = 0
    max_width: Count = 0
    speed: Annotated[float, Field(ge=0, lt=1e6)] = 0
    max_speed: Annotated[float, Field(ge=0, lt=1e6)] = 0
    atomics: bool | None = None
    iommu: ShortText = ""
    numa_node: Annotated[int, Field(ge=-1, lt=1 << 31)] = -1
    cpus: Cpus = ""
    compute_partition: ShortText = ""
    performance_level: ShortText = ""
    bridges: tuple[Bridge, ...] = Field(default=(), max_length=64)


class DeviceFile(Record):
    """A device file, and whether this user may open it. `group` is the name or number of its group."""

    path: DevicePath
    usable: bool
    group: Name
    member: bool = False
    mode: ShortText = ""


class CacheGroup(Record):
    """CPUs that share one L3 cache."""

    kib: Count
    cpus: Cpus


class Processor(Record):
    """CPU and system memory. `usable_cpus` and `memory_limit` are the limits of this process. 0: unknown."""

    model: ShortText = ""
    cpus: Count = 0
    usable_cpus: Count = 0
    l3: tuple[CacheGroup, ...] = Field(default=(), max_length=1024)
    numa_nodes: Count = 0
    numa_balancing: ShortText = ""
    memory_bytes: Count = 0
    available_bytes: Count = 0
    memory_limit: Count = 0
    shm_bytes: Count = 0


class RocmInstall(Record):
    """An installed ROCm. `form` is how it was installed."""

    form: Literal["system", "distribution", "pip", "conda"]
    path: LongText
    version: ShortText = ""
    compiler: bool = False


class InstalledDistribution(Record):
    """A distribution that is installed for the interpreter."""

    name: Name
    version: ShortText = ""


class Interpreter(Record):
    """The user's Python and the torch that it imports. `hip` and `cuda` come from torch/version.py."""

    path: LongText
    version: ShortText
    torch: ShortText = ""
    hip: ShortText = ""
    cuda: ShortText = ""
    own_runtime: bool = Field(default=False, description="torch bundles its own HSA runtime")
    distributions: tuple[InstalledDistribution, ...] = Field(default=(), max_length=20000)


class KernelCache(Record):
    """The folder in which a library caches compiled kernels. `variable` is the environment variable that sets it."""

    variable: Name
    path: LongText
    writable: bool
    filesystem: ShortText = ""


class Snapshot(Document):
    """Facts about a machine, collected without root and without ROCm."""

    taken: ShortText
    system: ShortText = ""
    kernel: ShortText = ""
    boot: tuple[ShortText, ...] = Field(default=(), max_length=256, description="boot parameters that affect a GPU")
    driver: ShortText = Field(default="", description="version of the amdgpu driver; empty: the one of the kernel tree")
    wsl: Literal["", "1", "2"] = ""
    container: ShortText = ""
    nvidia: bool = False
    groups: tuple[ShortText, ...] = _MANY
    root: bool = False
    gpus: tuple[GraphicsCard, ...] = Field(default=(), max_length=256)
    devices: tuple[DeviceFile, ...] = _MANY
    processor: Processor = Processor()
    rocm: tuple[RocmInstall, ...] = Field(default=(), max_length=256)
    python: Interpreter | None = None
    no_python: LongText = Field(default="", description="why no interpreter was inspected")
    variables: dict[Name, LongText] = Field(default={}, max_length=4096)
    caches: tuple[KernelCache, ...] = Field(default=(), max_length=256)

    @property
    def has_gpu(self) -> bool:
        """Whether there is an AMD GPU. WSL hides it from the kernel, so we assume one if NVIDIA's library is absent."""
        return bool(self.gpus) or (self.wsl != "" and not self.nvidia)

    @property
    def cards(self) -> tuple[GraphicsCard, ...]:
        """The discrete GPUs; all GPUs if there are no discrete ones."""
        return tuple(gpu for gpu in self.gpus if not gpu.integrated) or self.gpus

    def device(self, path: str) -> DeviceFile | None:
        """The device file with this path, or None."""
        return next((device for device in self.devices if device.path == path), None)
