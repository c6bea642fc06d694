from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.toolchain import hipify
from rocm3d.toolchain.hipify import HipifyResult


class HipifyGeneration1:
    """Translates torch's headers only below their path in torch's tree, as hipify 1 does."""

    def translate_headers(self, project: Path) -> HipifyResult:
        translated = {}
        for path in [*project.glob("aten/**/*.h"), *project.glob("c10/cuda/**/*.h")]:
            other = Path(str(path).replace("cuda", "hip").replace("CUDA", "HIP"))
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_text("hip\n", encoding="utf-8")
            translated[path] = other
        return HipifyResult("1.0.0", translated, {})


@pytest.fixture
def include(tmp_path):
    for name in ("ATen/cuda/CUDAContext.h", "ATen/native/cuda/Loops.h", "c10/cuda/CUDAStream.h", "ATen/Tensor.h"):
        path = tmp_path / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("cuda\n", encoding="utf-8")
    return tmp_path / "include"


def test_headers_of_aten_are_translated_by_the_first_generation_too(include, tmp_path):
    translated = hipify.write_hip_headers(include, tmp_path / "made", HipifyGeneration1())

    header_names = {path.relative_to(tmp_path / "made").as_posix() for path in (tmp_path / "made").rglob("*.h")}
    assert translated == 3
    assert {"ATen/hip/HIPContext.h", "ATen/native/hip/Loops.h", "c10/hip/HIPStream.h"} <= header_names
    assert not [
        name for name in header_names if name.startswith("aten/") or name.endswith(("CUDAContext.h", "CUDAStream.h"))
    ]


def test_generated_build_headers_are_written(include, tmp_path):
    hipify.write_hip_headers(include, tmp_path / "made", HipifyGeneration1())

    assert "AT_ROCM_ENABLED() 1" in (tmp_path / "made/ATen/hip/HIPConfig.h").read_text(encoding="ascii")


def test_a_torch_without_headers_of_aten(tmp_path):
    (tmp_path / "include" / "c10" / "cuda").mkdir(parents=True)
    (tmp_path / "include" / "c10" / "cuda" / "CUDAStream.h").write_text("cuda\n", encoding="utf-8")

    assert hipify.write_hip_headers(tmp_path / "include", tmp_path / "made", HipifyGeneration1()) == 1
