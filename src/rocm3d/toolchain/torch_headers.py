"""Generates torch's HIP headers from the CUDA headers in every torch wheel, as torch's ROCm build does."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.toolchain.hipify import Hipify

_FOLDERS = ("c10/cuda", "ATen/cuda", "ATen/native/cuda")
# Path in torch's source tree: hipify generation 1 translates ATen headers only below it.
_SOURCE = "aten/src"
# Headers that torch's build generates and no wheel has. They define how that torch was built.
_DISABLED_LIBRARIES = ("CUDNN", "CUSPARSELT", "HIPSPARSELT", "MAGMA")
_BUILD_MACROS = {
    "c10/hip/impl/hip_cmake_macros.h": "",
    "c10/cuda/impl/cuda_cmake_macros.h": "",
    "ATen/hip/HIPConfig.h": "#define AT_ROCM_ENABLED() 1\n",
    "ATen/cuda/CUDAConfig.h": "#define AT_ROCM_ENABLED() 0\n",
}


def write_hip_headers(include: Path, output: Path, hipify: Hipify) -> int:
    """Writes them to `output` and returns their number. `output` must come before `include` in the search order."""
    for name in _FOLDERS:
        if (include / name).is_dir():
            shutil.copytree(include / name, output / _in_source(name))
    count = len(hipify.translate_headers(output).files)
    if (output / _SOURCE).is_dir():
        (output / _SOURCE / "ATen").rename(output / "ATen")
        shutil.rmtree(output / _SOURCE.partition("/")[0])
    for name in _FOLDERS:
        # The CUDA headers are in torch's include folder: a second copy would define everything twice.
        shutil.rmtree(output / name, ignore_errors=True)
    disabled_macros = "".join(f"#define AT_{library}_ENABLED() 0\n" for library in _DISABLED_LIBRARIES)
    for name, text in _BUILD_MACROS.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(f"#pragma once\n{text}{disabled_macros if text else ''}", encoding="ascii")
    return count


def _in_source(name: str) -> str:
    return f"{_SOURCE}/{name}" if name.startswith("ATen/") else name
