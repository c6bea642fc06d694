from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.guard_vector_operator import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp

TYPES = {"types": ["float2", "float3", "float4", "int2"]}
BOTH = "__host__ __device__ inline"


@pytest.mark.parametrize(
    "text",
    [
        f"{BOTH} float operator*(float3 a, float3 b) {{\n  return a.x * b.x + a.y * b.y;\n}}\n",
        f"{BOTH} float2 operator*(float2 a, float2 b) {{\n  return {{a.x * b.x - a.y * b.y, a.x * b.y}};\n}}\n",
        f"{BOTH} float2 operator/(float2 a, float2 b) {{\n  return divided(a, b);\n}}\n",
        f"int a; {BOTH} void operator+=(float2& a, float2 b) {{ a.x += b.x; a.y += b.y; }}\n",
        f"{BOTH} void operator+=(float2& a, float2 b) {{ a.x += b.x; a.y += b.y; }}",
    ],
    ids=["dot product", "complex product", "unknown body", "shares its line", "no newline"],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(text.encode(), TYPES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "__device__ void operator+=(float2& a, float2 b) { a.x += b.x; a.y += b.y; }\n",
        f"{BOTH} float2 operator*(float2 a, float b) {{ return {{a.x * b, a.y * b}}; }}\n",
        f"{BOTH} float2 operator+(float2 a, float2 b) {{ return {{a.x + b.x, a.y + b.y}}; }}\n",
        f"{BOTH} Point operator*(Point a, Point b) {{ return {{a.x * b.x, a.y * b.y}}; }}\n",
        f"#ifndef USE_ROCM\n{BOTH} void operator+=(float2& a, float2 b) {{ a.x += b.x; a.y += b.y; }}\n#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), TYPES) == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        f"{BOTH} void operator+=(float2& a, const float2& b) {{ a.x += b.x; a.y += b.y; }}\n",
        f"{BOTH} float3& operator*=(float3& a, float3 b) {{\n  a.x *= b.x, a.y *= b.y, a.z *= b.z;\n  return a;\n}}\n",
        f"{BOTH} int2 operator/(int2 a, int2 b)\n{{\n  return make_int2(a.x / b.x, a.y / b.y);\n}}\n",
        "HOST_DEVICE float2 operator*(float2 a, float2 b) { return {a.x * b.x, a.y * b.y}; }\n",
    ],
)
def test_hides_operators_that_hip_defines(text):
    before = f"int first;\n{text}int last;\n".encode()

    after = proven_edit(edit, before, TYPES)

    assert fold_cpp(after, assume_rocm) == b"int first;\nint last;\n"
