from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.open_guard import edit

ARCH = {"macros": ["__CUDA_ARCH__"], "accept": "__HIP_DEVICE_COMPILE__"}


@pytest.mark.parametrize(
    "line",
    [
        "#if __CUDA_ARCH__",
        "#if __CUDA_ARCH__ >= 600",
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600",
        "#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)",
        "#ifdef __CUDA_ARCH_LIST__",
        "#if !defined(__CUDA_ARCH__)",
    ],
)
def test_stays_untouched(line):
    data = f"{line}\nx\n#endif\n".encode()

    assert edit(data, ARCH) == data


@pytest.mark.parametrize(
    "line", ["#ifdef __CUDA_ARCH__", "#if defined(__CUDA_ARCH__)", "#if defined __CUDA_ARCH__", "#ifndef __CUDA_ARCH__"]
)
def test_a_plain_test_accepts_hips_device_pass(line):
    before = f"{line}\nx\n#else\ny\n#endif\n".encode()

    after = proven_edit(edit, before, ARCH, "x.cuh")

    assert b"__HIP_DEVICE_COMPILE__" in after
