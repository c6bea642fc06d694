from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrites.add_ldg_overload import edit

HALF = {"call": "__ldg", "types": ["at::Half", "at::BFloat16"], "guard": "torch"}
CALL = "template <typename T> __device__ T f(const T* x) { return __ldg(x); }\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// __ldg(x)\n",
        "__device__ float f(const float* x) { return own_ldg(x); }\n",
        f"#ifndef USE_ROCM\n{CALL}#endif\n",
        f"__device__ at::Half __ldg(const at::Half* p) {{ return *p; }}\n{CALL}",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), HALF) == text.encode()


def test_inserts_overloads_once_above_the_first_call():
    before = f"#include <ATen/ATen.h>\n{CALL}{CALL.replace('f(', 'g(')}".encode()

    after = proven_edit(edit, before, HALF)

    assert after.count(b"at::Half __ldg(const at::Half* ptr) { return *ptr; }") == 1
    assert after.count(b"at::BFloat16 __ldg(const at::BFloat16* ptr) { return *ptr; }") == 1
    assert after.index(b"at::Half __ldg") < after.index(b"template")
    assert after.startswith(b"#include <ATen/ATen.h>\n#if defined(USE_ROCM)\n")
