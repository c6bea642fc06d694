from __future__ import annotations

import pytest

from rocm3d.toolchain.nvcc import Nvcc, entries, find_nvcc

PTX = """.version 9.0
.target sm_90
.visible .entry _Z5emptyv()
{

	ret;
}
.visible .entry _Z5twicePfi(
	.param .u64 .ptr _Z5twicePfi_param_0,
	.param .u32 _Z5twicePfi_param_1
)
{
	.reg .b32 	%r<2>;
	// comment
	ld.param.u64 	%rd1, [_Z5twicePfi_param_0];
	ret;
}
.func helper()
{
	ret;
}
"""


@pytest.fixture
def nvcc():
    found = find_nvcc()
    if found is None:
        pytest.skip("not run: nvcc is not installed")
    return found


def test_none_where_none_is(tmp_path):
    assert find_nvcc({"PATH": str(tmp_path)}, usual=tmp_path) is None


def test_a_program_of_that_name_that_is_something_else(tmp_path):
    (tmp_path / "nvcc").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "nvcc").chmod(0o755)

    assert find_nvcc({"PATH": str(tmp_path)}, usual=tmp_path / "none") is None


def test_kernels_of_a_ptx_text():
    assert list(entries(PTX)) == [("_Z5emptyv", True), ("_Z5twicePfi", False)]


@pytest.mark.parametrize("text", ["", ".entry", ".visible .entry x", ".visible .entry y()\n{\n"])
def test_half_a_text_is_survived(text):
    assert len(list(entries(text))) <= 1


def test_a_kernel_is_compiled_and_read_back(nvcc, tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k(float* x) { x[0] = 1; }\n__global__ void nothing() {}\n")

    ended = nvcc.object(tmp_path / "k.cu", tmp_path / "k.o", ["-O2"], tmp_path)

    assert ended.output is not None, ended.said
    assert dict(entries(Nvcc.ptx(ended.output))) == {"_Z1kPf": False, "_Z7nothingv": True}
    assert (nvcc.include / "cuda_runtime.h").is_file()


def test_an_error_is_told(nvcc, tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k() { y = 1; }\n")

    ended = nvcc.object(tmp_path / "k.cu", tmp_path / "k.o", [], tmp_path)

    assert ended.output is None
    assert 'identifier "y" is undefined' in ended.said
