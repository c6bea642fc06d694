from __future__ import annotations

import pytest

RULE = "vector_operator_clash"
TEXT = "inline __host__ __device__ float3 operator*(const float3& a, const float3& b) { return a; }\n"
STRUCT = "struct float3 {float x, y, z; float& operator[](int i) {return (&x)[i];}};\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("__host__ ", ""),  # a __device__ operator wins over HIP's
        TEXT.replace("__host__ __device__ ", ""),  # and so does a host operator in a file that hipcc compiles
        TEXT.replace("operator*", "operator+"),
        TEXT.replace("operator*", "operator=="),
        TEXT.replace("const float3& b", "float b"),
        TEXT.replace("const float3& a", "float a"),
        TEXT.replace(", const float3& b", "").replace("*", "-"),
        TEXT.replace("float3", "Vec3"),
        TEXT.replace("operator*", "cross"),
        f"namespace mine {{\n{STRUCT}}}\n",
        STRUCT.replace("float3", "float33"),
        "struct float3;\n",
        "typedef float float3[3];\n",
        f"#ifdef WITH_CUDA\n#include <vector_types.h>\n#else\n{STRUCT}#endif\n",
        f"#ifndef __CUDACC__\n{STRUCT}#endif\n",
        f"// {TEXT}",
        f"#if 0\n{TEXT}{STRUCT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}{STRUCT}#endif\n",
        f"#if !defined(__HIPCC__)\n{TEXT}#endif\n",
        'const char* s = "helper_math.h";\n',
        "inline __host__ __device__ float3 operator*(",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(1, 1)]),
        (TEXT.replace("operator*", "operator /"), [(1, 1)]),
        (TEXT.replace("float3 operator*(const float3& a", "float3& operator+=(float3& a"), [(1, 1)]),
        (TEXT.replace("__host__ __device__", "HOST_DEVICE"), [(1, 1)]),
        (TEXT.replace("{ return a; }", ";"), [(1, 1)]),
        (TEXT.replace("float3", "int2") + TEXT, [(1, 1), (2, 1)]),
        ("/* größe */ " + TEXT, [(1, 13)]),
        (STRUCT, [(1, 1)]),
        ("#include <a.h>\r\n" + STRUCT.replace("float3", "int4"), [(2, 1)]),
        (f"#ifdef WITH_CUDA\n{STRUCT}#else\n#endif\n", [(2, 1)]),
        ('#include "helper_math.h"\n', [(1, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected


def test_plain_operator_clashes_where_the_host_compiler_reads_it(positions):
    assert positions(RULE, "a.cpp", TEXT.replace("__host__ __device__ ", "")) == [(1, 1)]


def test_one_finding_for_a_known_operator_header(positions):
    assert positions(RULE, "common/helper_math.h", TEXT + TEXT.replace("float3", "float4")) == [(1, 1)]


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.h", b"// \xff\n" + TEXT.encode()) == [(2, 1)]


@pytest.mark.parametrize(("text", "name"), [(TEXT, "operator*(float3, float3)"), (STRUCT, "struct float3")])
def test_message_names_what_is_defined(findings, text, name):
    (finding,) = findings(RULE, "a.cuh", text)

    assert (finding.code, finding.severity) == ("CU304", "error")
    assert finding.message.startswith(f"{name} is defined here; HIP's vector types define it too")
