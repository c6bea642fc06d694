from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.toolchain.hipify import Hipify

SOURCE = """#include <cuda_runtime.h>
#include "own.h"
__global__ void k(float* x) { x[0] = 1; }
void go(float* x, cudaStream_t stream) { k<<<1, 32, 0, stream>>>(x); }
"""


@pytest.fixture
def hipify(toolchain):
    root = Path(next(word for word in toolchain.command if word.startswith("--rocm-path=")).partition("=")[2])
    return Hipify(root / "torch")


def test_a_missing_hipify_is_an_error(tmp_path):
    (tmp_path / "project").mkdir()

    with pytest.raises(MachineError, match="hipify failed: ModuleNotFoundError"):
        Hipify(tmp_path).translate_sources(tmp_path / "project", [])
    assert not list(tmp_path.glob("*.json"))


def test_sources_are_translated_as_torchs_build_does(hipify, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    source, header, plain = project / "k.cu", project / "own.h", project / "plain.cpp"
    source.write_text(SOURCE)
    header.write_text("#include <cuda_fp16.h>\n")
    plain.write_text("int nothing() { return 0; }\n")

    result = hipify.translate_sources(project, [source, plain])

    assert result.version.startswith("2.")
    assert result.failed == {}
    assert result.files[plain] == plain
    assert result.files[source] == project / "k.hip"
    text = (project / "k.hip").read_text()
    assert "hip/hip_runtime.h" in text
    assert "hipStream_t" in text
    assert "<<<" not in text
    assert source.read_text() == SOURCE
    assert result.files[header].name == "own_hip.h"


def test_torchs_headers_are_translated(toolchain):
    root = Path(next(word for word in toolchain.command if word.startswith("--rocm-path=")).partition("=")[2])
    hip_include = root / "torch" / "hip_include"

    assert "hipStream_t" in (hip_include / "c10" / "hip" / "HIPStream.h").read_text()
    assert (hip_include / "ATen" / "hip" / "HIPContext.h").is_file()
    assert (hip_include / "c10" / "hip" / "impl" / "hip_cmake_macros.h").is_file()
    assert not (hip_include / "c10" / "cuda" / "CUDAStream.h").exists()


def test_jit_sources_are_translated_from_outside(hipify, tmp_path):
    """torch's load translates all headers of the include folders, and no others."""
    root, build = tmp_path / "tree", tmp_path / "build"
    build.mkdir()
    for name, text in {"cuda/k.cu": SOURCE, "cuda/own.h": "", "inc/given.h": "#include <cuda_fp16.h>\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    result = hipify.translate_sources(build, [root / "cuda" / "k.cu"], [root / "inc"], jit=True)

    assert result.files[root / "cuda" / "k.cu"] == root / "hip" / "k.hip"
    assert result.files[root / "inc" / "given.h"] == root / "inc" / "given_hip.h"
    assert not (root / "hip" / "own.h").exists()
    assert list(build.iterdir()) == []
