from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.widen_active_mask import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation


def kernel(body: str) -> bytes:
    return f"__device__ int f(int v, int t) {{\n  {body}\n}}\n".encode()


@pytest.mark.parametrize(
    "body",
    [
        "unsigned a = __activemask(); return g(a) + t % warpSize;",
        "unsigned a = __activemask(); __syncwarp(a); return t % warpSize;",
        "unsigned a = __activemask(); return __shfl_sync(a, v, 0, 16) + t % warpSize;",
        "unsigned a = __activemask(); return t % warpSize + t / 32;",
    ],
)
def test_unsupported_code_is_refused(body):
    with pytest.raises(RewriteRefusedError):
        edit(kernel(body), {})


@pytest.mark.parametrize("data", [b"", kernel("// __activemask()"), kernel("return m.activemask();")])
def test_stays_untouched(data):
    assert edit(data, {}) == data


def test_widens_the_mask_of_the_whole_wave():
    before = kernel(
        "unsigned a = __activemask();\n  int l = __ffs(a) - 1;\n  v = __shfl_sync(a, v, l);\n  return v + t % warpSize;"
    )

    after = proven_edit(edit, before, {})

    assert b"  unsigned long long a = __ballot(1);\n  int l = __ffsll(a) - 1;\n  v = __shfl(v, l);\n#else\n" in after


def test_edits_calls_that_take_the_mask_in_groups_of_32():
    before = kernel(
        "unsigned a = __activemask();\n  int l = __ffs(a) - 1;\n  v = __shfl_sync(a, v, l);\n"
        "  if (__any_sync(a, v)) v += __shfl_xor_sync(0xffffffff, v, 1);\n  return v + (t & 31) + __popc(a);"
    )

    after = edit(before, {})

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"ROCM3D_ACTIVEMASK()" in on_rocm
    assert b"ROCM3D_SHFL(a, v, l)" in on_rocm
    assert b"ROCM3D_ANY(a, v)" in on_rocm
    assert b"__shfl_xor_sync(0xffffffff, v, 1)" in on_rocm  # another recipe edits it
    assert prove_isolation("x.cu", before, after).kind == "cpp-tokens-equal"
    assert edit(after, {}) == after
