from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.toolchain import torch_headers
from rocm3d.toolchain.hipify import Hipified


class FirstGeneration:
    """Translates torch's headers only below their path in torch's tree, as hipify 1 does."""

    def headers(self, project: Path) -> Hipified:
        made = {}
        for path in [*project.glob("aten/**/*.h"), *project.glob("c10/cuda/**/*.h")]:
            other = Path(str(path).replace("cuda", "hip").replace("CUDA", "HIP"))
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_text("hip\n", encoding="utf-8")
            made[path] = other
        return Hipified("1.0.0", made, {})


@pytest.fixture
def include(tmp_path):
    for name in ("ATen/cuda/CUDAContext.h", "ATen/native/cuda/Loops.h", "c10/cuda/CUDAStream.h", "ATen/Tensor.h"):
        place = tmp_path / "include" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("cuda\n", encoding="utf-8")
    return tmp_path / "include"


def test_headers_of_aten_are_translated_by_the_first_generation_too(include, tmp_path):
    made = torch_headers.make(include, tmp_path / "made", FirstGeneration())

    found = {path.relative_to(tmp_path / "made").as_posix() for path in (tmp_path / "made").rglob("*.h")}
    assert made == 3
    assert {"ATen/hip/HIPContext.h", "ATen/native/hip/Loops.h", "c10/hip/HIPStream.h"} <= found
    assert not [name for name in found if name.startswith("aten/") or name.endswith(("CUDAContext.h", "CUDAStream.h"))]


def test_what_torchs_build_would_write_is_there(include, tmp_path):
    torch_headers.make(include, tmp_path / "made", FirstGeneration())

    assert "AT_ROCM_ENABLED() 1" in (tmp_path / "made/ATen/hip/HIPConfig.h").read_text(encoding="ascii")


def test_a_torch_without_headers_of_aten(tmp_path):
    (tmp_path / "include" / "c10" / "cuda").mkdir(parents=True)
    (tmp_path / "include" / "c10" / "cuda" / "CUDAStream.h").write_text("cuda\n", encoding="utf-8")

    assert torch_headers.make(tmp_path / "include", tmp_path / "made", FirstGeneration()) == 1
