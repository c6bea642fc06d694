"""torch's HIP headers, made from the CUDA ones that every torch wheel carries, as torch's own ROCm build makes them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.toolchain.hipify import Hipify

_FOLDERS = ("c10/cuda", "ATen/cuda", "ATen/native/cuda")
# Where they lie in torch's own tree: the first generation of hipify knows headers of ATen by it, and skips others.
_SOURCE = "aten/src"
# Written by torch's own build and in no wheel; what they would define is about how that torch was built.
_NOTHING = ("CUDNN", "CUSPARSELT", "HIPSPARSELT", "MAGMA")
_BUILD_MACROS = {
    "c10/hip/impl/hip_cmake_macros.h": "",
    "c10/cuda/impl/cuda_cmake_macros.h": "",
    "ATen/hip/HIPConfig.h": "#define AT_ROCM_ENABLED() 1\n",
    "ATen/cuda/CUDAConfig.h": "#define AT_ROCM_ENABLED() 0\n",
}


def make(include: Path, output: Path, hipify: Hipify) -> int:
    """Make them below `output`; how many there are. They go before `include` on a command line."""
    for name in _FOLDERS:
        if (include / name).is_dir():
            shutil.copytree(include / name, output / _in_source(name))
    made = len(hipify.headers(output).files)
    if (output / _SOURCE).is_dir():
        (output / _SOURCE / "ATen").rename(output / "ATen")
        shutil.rmtree(output / _SOURCE.partition("/")[0])
    for name in _FOLDERS:
        # The CUDA ones are found in the torch itself; two copies would be two definitions.
        shutil.rmtree(output / name, ignore_errors=True)
    without = "".join(f"#define AT_{library}_ENABLED() 0\n" for library in _NOTHING)
    for name, text in _BUILD_MACROS.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(f"#pragma once\n{text}{without if text else ''}", encoding="ascii")
    return made


def _in_source(name: str) -> str:
    return f"{_SOURCE}/{name}" if name.startswith("ATen/") else name
