"""The CUDA side of small extensions through the real nvcc."""

from __future__ import annotations

import pytest

from rocm3d.repository import Repository
from rocm3d.toolchain.compiler import find_nvcc
from rocm3d.verify.compilation.cuda_session import compile_cuda
from rocm3d.verify.compilation.session import CompileRequest
from rocm3d.workspace.tree import Tree

SETUP = """import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
flags = ["-DROCM"] if torch.version.hip else ["--use_fast_math", "-gencode=arch=compute_20,code=sm_20"]
setup(ext_modules=[CUDAExtension("p._C", ["k.cu"], extra_compile_args={"nvcc": flags})])
"""
KERNEL = """#include <cuda_runtime.h>
#ifdef USE_ROCM
#error "this is the other side"
#endif
__global__ void k(float* x) { x[0] = __expf(x[0]); }
"""


@pytest.fixture
def compiled(tmp_path, knowledge, kit):
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("not run: nvcc is not installed")

    def run(kernel: str):
        root = tmp_path / "repo"
        root.mkdir(exist_ok=True)
        (root / "setup.py").write_text(SETUP)
        (root / "k.cu").write_text(kernel)
        scan = Repository(root, knowledge, work=tmp_path / "work").scan()
        request = CompileRequest(Tree.open(root), scan.inventory.extensions, ("gfx942",), knowledge)
        (unit,) = compile_cuda(request, kit.torch, nvcc)
        return unit.side

    return run


def test_an_error_has_its_line(compiled):
    side = compiled(KERNEL + "void f() { y = 1; }\n")

    assert side.outcome == "failed"
    assert [(error.path, error.line) for error in side.errors] == [("k.cu", 6)]


def test_a_missing_header_does_not_fail(compiled):
    side = compiled("#include <cudnn_of_nobody.h>\n" + KERNEL)

    assert (side.outcome, side.lacks) == ("lacks", "cudnn_of_nobody.h")


def test_the_cuda_branch_is_compiled_with_its_own_flags(compiled):
    side = compiled(KERNEL)

    assert side.outcome == "compiled", side.errors
    assert [(kernel.name, kernel.empty) for kernel in side.kernels] == [("_Z1kPf", False)]
