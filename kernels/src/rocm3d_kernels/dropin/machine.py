"""What the result of a probe depends on beside the package: torch, Triton, the driver and the GPUs.

Read from the files of the installation and of the kernel, without importing torch and without touching a GPU.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import rocm3d_kernels

# Variables that choose the GPUs or the libraries that a package finds.
VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION", "LD_LIBRARY_PATH",
    "ROCR_VISIBLE_DEVICES",
)  # fmt: skip
TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")
DRIVERS = (Path("/sys/module/amdgpu/version"), Path("/proc/driver/nvidia/version"))
DEVICES = ("/dev/kfd", "/dev/dri", "/dev/nvidiactl")
MAX_BYTES = 4096


def stamp() -> str:
    """One line for each property; another text means that an earlier result does not apply."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield f"rocm3d-kernels {rocm3d_kernels.__version__}"
    yield f"python {sys.executable} {sys.version}"
    yield f"torch {_package_stamp('torch', 'version.py')}"
    yield f"triton {_package_stamp('triton', '__init__.py')}"
    # amdgpu of the kernel itself has no version of its own.
    yield f"kernel {platform.release()}"
    yield from (f"driver {_read(file)}" for file in DRIVERS)
    yield from (f"gfx {version}" for version in _gfx_versions())
    # A user without access to the device sees no GPU.
    yield from (f"device {device} {os.access(device, os.R_OK | os.W_OK)}" for device in DEVICES)
    yield from (f"{name}={os.environ.get(name, '')}" for name in VARIABLES)


def _package_stamp(name: str, file: str) -> str:
    """Changes when another release is installed."""
    spec = PathFinder.find_spec(name)
    if spec is None or not spec.origin:
        return f"none {sysconfig.get_platform()}"
    try:
        status = Path(spec.origin).with_name(file).stat()
    except OSError:
        return spec.origin
    return f"{spec.origin} {status.st_size} {status.st_mtime_ns}"


def _gfx_versions() -> list[str]:
    """gfx_target_version of each GPU that the driver lists, such as 90402."""
    try:
        files = sorted(node / "properties" for node in TOPOLOGY.iterdir())
    except OSError:
        return []
    words = [line.split() for file in files for line in _read(file).splitlines()]
    return [pair[1] for pair in words if len(pair) == 2 and pair[0] == "gfx_target_version" and pair[1] != "0"]


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
