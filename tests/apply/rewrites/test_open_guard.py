from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.open_guard import edit

NVCC = {"macros": ["__CUDACC__", "__NVCC__"], "accept": "__HIPCC__", "bare": True}


@pytest.mark.parametrize(
    "line",
    [
        "#if defined(__CUDACC__) || defined(__HIPCC__)",
        "#if defined(__CUDACC__) && CUDA_VERSION > 9000",
        "#ifdef __CUDACC_RTC__",
        "#if defined(__CUDACC_VER_MAJOR__)",
    ],
)
def test_stays_untouched(line):
    data = f"{line}\nx\n#endif\n".encode()

    assert edit(data, NVCC) == data


@pytest.mark.parametrize("line", ["#ifdef __CUDACC__", "#if defined(__NVCC__)", "#if __CUDACC__", "#ifndef __CUDACC__"])
def test_a_plain_test_accepts_hipcc(line):
    before = f"{line}\nx\n#else\ny\n#endif\n".encode()

    after = proven_edit(edit, before, NVCC, "x.h")

    assert b"defined(__HIPCC__)" in after
