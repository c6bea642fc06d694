from __future__ import annotations

import pytest

RULE = "generated_hip_file"


@pytest.fixture
def made(scanned):
    def run(*paths: str):
        return scanned(dict.fromkeys(paths, "int a;\n"), RULE).findings

    return run


@pytest.mark.parametrize(
    "paths",
    [
        ("src/a.cu", "src/a.h"),
        ("src/a.hip",),  # a port without a CUDA side: nobody generates it anew
        ("src/a_hip.cpp",),
        ("src/a.cu", "lib/a.hip"),
        ("src/a.cu", "src/b.hip"),
        ("src/cuda/a.cpp", "src/hip/a.cpp"),  # two backends, each written by hand
        ("src/ship.cpp", "src/a.cpp"),
        ("docs/a.md", "docs/a_hip.md"),
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(made, paths):
    assert made(*paths) == ()


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("src/a.cu", "src/a.hip"),
        ("a.cu", "a.hip"),
        ("src/a_cuda.cu", "src/a_hip.hip"),
        ("src/a.cpp", "src/a_hip.cpp"),
        ("src/a.h", "src/a_hip.h"),
        ("src/a.cuh", "src/a_hip.cuh"),
        ("src/cuda/a.cu", "src/hip/a.hip"),
        ("cuda_rasterizer/a.cu", "hip_rasterizer/a.hip"),
        ("src/a.hip", "src/a_hip.hip"),  # translated twice
    ],
)
def test_output_beside_its_source(made, source, output):
    (found,) = made(source, output)

    assert (found.path, found.line, found.column, found.code) == (output, 1, 1, "CU507")
    assert found.message == f"{output} is output of hipify that is kept in the repository"


def test_a_folder_is_told_once(made):
    found = made("src/a.cu", "src/a.hip", "src/b.cu", "src/b.hip", "src/c.h", "src/c_hip.h", "lib/d.cu", "lib/d.hip")

    assert [item.path for item in found] == ["lib/d.hip", "src/a.hip"]
    assert found[1].message.startswith("src/a.hip (and 2 more of this folder) is output")
