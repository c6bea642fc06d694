from __future__ import annotations

import pytest

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.add_host_qualifier import edit
from rocm3d.syntax.isolation import prove_isolation


@pytest.mark.parametrize(
    "body", ["return __ldg(p);", "return p[threadIdx.x];", "return atomicAdd(p, 1);", "__shared__ int s; return s;"]
)
def test_device_only_code_is_refused(body):
    with pytest.raises(RewriteRefusedError, match="only the device"):
        edit(f"struct F {{ __device__ int operator()(int* p) const {{ {body} }} }};\n".encode(), {})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "__device__ int f(int a) { return a; }\n",
        "struct F { __host__ __device__ int operator()(int a) const { return a; } };\n",
        "struct F { __device__ int twice(int a) const { return a + a; } };\n",
        "// struct F { __device__ F(); };\n",
        "#ifndef USE_ROCM\nstruct F { __device__ F() {} };\n#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), {}) == text.encode()


VALUE = """#pragma once
struct __align__(16) V {
  float x;
  __device__ __forceinline__ V();
  __device__ __forceinline__ V operator+(const V& o) const;
  __device__ int lane() const { return threadIdx.x; }
};
__device__ __forceinline__ V::V() { x = 0; }
__device__ __forceinline__ V V::operator+(const V& o) const { return V(); }
__device__ float other(V v) { return v.x; }
"""


def test_edits_declarations_and_definitions_of_a_value_type():
    before = VALUE.encode()

    after = edit(before, {"guard": "torch"})

    assert after.count(b"ROCM3D_HOST_DEVICE __forceinline__") == 4
    assert b"\n  __device__ int lane()" in after
    assert b"\n__device__ float other" in after
    assert after.startswith(b"#pragma once\n#if defined(USE_ROCM)\n#define ROCM3D_HOST_DEVICE __host__ __device__\n")
    assert prove_isolation("x.cuh", before, after).kind == "cpp-tokens-equal"
    assert edit(after, {"guard": "torch"}) == after


def test_edits_a_functor_and_preserves_line_ends():
    before = b"struct F {\r\n  __device__ int operator()(int a) const { return a; }\r\n};\r\n"

    after = edit(before, {})

    assert b"\r\n  ROCM3D_HOST_DEVICE int operator()" in after
    assert prove_isolation("x.cu", before, after).holds
