from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.hipify_names import hip_path

WORDS = {"cuda": "hip", "CUDA": "HIP", "THC": "THH"}


@pytest.mark.parametrize(
    ("path", "made"),
    [
        ("a.cu", "a.hip"),
        ("a_cuda.cu", "a_hip.hip"),
        ("src/a.cpp", "src/a_hip.cpp"),
        ("src/a_cuda.cpp", "src/a_hip.cpp"),
        ("src/CUDAHelper.h", "src/HIPHelper.h"),
        ("src/cuda/a.h", "src/hip/a.h"),
        ("src/cuda_rasterizer/a.cu", "src/hip_rasterizer/a.hip"),
        ("THC/THCa.h", "THH/THHa.h"),
        ("a.hip", "a_hip.hip"),
    ],
)
def test_names_are_those_of_torch(path, made):
    assert hip_path(path, WORDS) == made


@given(
    st.lists(st.text(alphabet="abcudhipCUDATHX_", min_size=1, max_size=8), min_size=1, max_size=4),
    st.sampled_from([".cu", ".cpp", ".h", ".cuh"]),
)
def test_nothing_keeps_its_own_name(parts, suffix):
    path = "/".join(parts) + suffix

    assert hip_path(path, WORDS) != path
    assert "cuda" not in hip_path(path, WORDS)
