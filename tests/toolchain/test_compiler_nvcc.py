from __future__ import annotations

import pytest

from rocm3d.toolchain.compiler import Nvcc, find_nvcc, ptx_kernels

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
    installed = find_nvcc()
    if installed is None:
        pytest.skip("not run: nvcc is not installed")
    return installed


def test_no_nvcc_is_none(tmp_path):
    assert find_nvcc({"PATH": str(tmp_path)}, default_home=tmp_path) is None


def test_another_program_named_nvcc_is_ignored(tmp_path):
    (tmp_path / "nvcc").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "nvcc").chmod(0o755)

    assert find_nvcc({"PATH": str(tmp_path)}, default_home=tmp_path / "none") is None


def test_kernels_of_a_ptx_text():
    assert list(ptx_kernels(PTX)) == [("_Z5emptyv", True), ("_Z5twicePfi", False)]


@pytest.mark.parametrize("text", ["", ".entry", ".visible .entry x", ".visible .entry y()\n{\n"])
def test_truncated_ptx_is_accepted(text):
    assert len(list(ptx_kernels(text))) <= 1


def test_a_kernel_is_compiled_and_read(nvcc, tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k(float* x) { x[0] = 1; }\n__global__ void nothing() {}\n")

    ended = nvcc.compile_object(tmp_path / "k.cu", tmp_path / "k.o", ["-O2"], tmp_path)

    assert ended.output is not None, ended.messages
    assert dict(ptx_kernels(Nvcc.read_ptx(ended.output))) == {"_Z1kPf": False, "_Z7nothingv": True}
    assert (nvcc.include / "cuda_runtime.h").is_file()


def test_an_error_has_a_message(nvcc, tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k() { y = 1; }\n")

    ended = nvcc.compile_object(tmp_path / "k.cu", tmp_path / "k.o", [], tmp_path)

    assert ended.output is None
    assert 'identifier "y" is undefined' in ended.messages
