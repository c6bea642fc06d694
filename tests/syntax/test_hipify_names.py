from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.hipify_names import Translation, hip_path

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


@pytest.mark.parametrize(
    "text",
    ["", "int a;\n", "torch::Tensor f(torch::Tensor x) { return x.is_cuda() ? x : x.cuda(); }\n", "barracudaRun();\n",
     "#include <torch/extension.h>\n", "__device__ int f();\n"],
)  # fmt: skip
def test_host_code_without_names_of_cuda_is_not_changed(text):
    assert Translation(["a.cpp"], lambda _: text.encode(), WORDS).changes("a.cpp") is False


@pytest.mark.parametrize(
    "text",
    ["cudaStream_t s;\n", "#include <cuda_runtime.h>\n", "#include <ATen/cuda/CUDAContext.h>\n", "f<<<1, 2>>>();\n",
     "#include <cub/cub.cuh>\n", "#ifdef __CUDACC__\n", "cublasHandle_t h;\n", "__global__ void k();\n"],
)  # fmt: skip
def test_names_of_cuda_are_translated(text):
    assert Translation(["a.cpp"], lambda _: text.encode(), WORDS).changes("a.cpp") is True


@pytest.mark.parametrize(("path", "changed"), [("cuda/a.cpp", True), ("a.inl", False), ("a.py", False)])
def test_folder_and_ending_decide_before_the_text(path, changed):
    assert Translation([path], lambda _: b"int a;\n", WORDS).changes(path) is changed


def test_what_cannot_be_read_is_not_known():
    assert Translation(["a.cpp"], lambda _: None, WORDS).changes("a.cpp") is None


def test_headers_that_include_each_other_come_to_an_end():
    texts = {"a.h": b'#include "b.h"\n', "b.h": b'#include "a.h"\n'}

    assert Translation(texts, texts.get, WORDS).changes("a.h") is False


@given(st.dictionaries(st.sampled_from(["a.h", "b.h", "c/d.h"]), st.binary(max_size=40), min_size=1))
def test_any_bytes_get_an_answer(texts):
    assert all(Translation(texts, texts.get, WORDS).changes(path) in (True, False) for path in texts)
