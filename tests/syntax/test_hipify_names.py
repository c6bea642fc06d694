from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.hipify_names import HipifyPrediction, hip_path

WORDS = {"cuda": "hip", "CUDA": "HIP", "THC": "THH"}


@pytest.mark.parametrize(
    ("path", "expected"),
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
def test_names_match_torch(path, expected):
    assert hip_path(path, WORDS) == expected


@given(
    st.lists(st.text(alphabet="abcudhipCUDATHX_", min_size=1, max_size=8), min_size=1, max_size=4),
    st.sampled_from([".cu", ".cpp", ".h", ".cuh"]),
)
def test_translated_name_always_differs(parts, suffix):
    path = "/".join(parts) + suffix

    assert hip_path(path, WORDS) != path
    assert "cuda" not in hip_path(path, WORDS)


@pytest.mark.parametrize(
    "text",
    ["", "int a;\n", "torch::Tensor f(torch::Tensor x) { return x.is_cuda() ? x : x.cuda(); }\n", "barracudaRun();\n",
     "#include <torch/extension.h>\n", "__device__ int f();\n"],
)  # fmt: skip
def test_host_code_without_cuda_names_is_unchanged(text):
    assert HipifyPrediction(["a.cpp"], lambda _: text.encode(), WORDS).renames("a.cpp") is False


@pytest.mark.parametrize(
    "text",
    ["cudaStream_t s;\n", "#include <cuda_runtime.h>\n", "#include <ATen/cuda/CUDAContext.h>\n", "f<<<1, 2>>>();\n",
     "#include <cub/cub.cuh>\n", "#ifdef __CUDACC__\n", "cublasHandle_t h;\n", "__global__ void k();\n"],
)  # fmt: skip
def test_cuda_names_are_translated(text):
    assert HipifyPrediction(["a.cpp"], lambda _: text.encode(), WORDS).renames("a.cpp") is True


@pytest.mark.parametrize(("path", "changed"), [("cuda/a.cpp", True), ("a.inl", False), ("a.py", False)])
def test_folder_and_suffix_take_precedence(path, changed):
    assert HipifyPrediction([path], lambda _: b"int a;\n", WORDS).renames(path) is changed


def test_unreadable_file_is_unknown():
    assert HipifyPrediction(["a.cpp"], lambda _: None, WORDS).renames("a.cpp") is None


def test_circular_includes_terminate():
    texts = {"a.h": b'#include "b.h"\n', "b.h": b'#include "a.h"\n'}

    assert HipifyPrediction(texts, texts.get, WORDS).renames("a.h") is False


@given(st.dictionaries(st.sampled_from(["a.h", "b.h", "c/d.h"]), st.binary(max_size=40), min_size=1))
def test_any_bytes_do_not_raise(texts):
    assert all(HipifyPrediction(texts, texts.get, WORDS).renames(path) in (True, False) for path in texts)
