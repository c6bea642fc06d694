from __future__ import annotations

import pytest

RULE = "host_device_functor"
TEXT = """struct __align__(16) Vec {
    float x;

    __device__ __forceinline__ Vec();
    __device__ __forceinline__ Vec(float x);
    __device__ Vec operator+(const Vec& o) const;
    __host__ __device__ float norm() const;
};

__device__ __forceinline__ Vec::Vec() {
    x = 0.0f;
}

static __device__ Vec Vec::operator+(const Vec& o) const {
    return Vec(x + o.x);
}
"""
POSITIONS = [(4, 5), (5, 5), (6, 5), (10, 1), (14, 8)]
SUM = "void f() {\n  cub::DeviceReduce::Sum(tmp, bytes, (Vec*)in, out, n);\n}\n"
FUNCTOR = """struct Min {
  __device__ __forceinline__ float3 operator()(const float3& a, const float3& b) const { return a; }
};
void f() { cub::DeviceReduce::Reduce(tmp, bytes, in, out, n, Min(), init); }
"""


@pytest.mark.parametrize(
    "text",
    [
        TEXT,  # other files cannot use a type of a .cu file
        TEXT.replace("__device__", "__host__ __device__").replace("__host__ __host__", "__host__") + SUM,
        TEXT + SUM.replace("Vec", "Other"),
        FUNCTOR,
        "struct Vec { float x; Vec(); Vec operator+(const Vec& o) const; };\n" + SUM,
        "// " + (TEXT + SUM).replace("\n", " ") + "\n",
        f"#if 0\n{TEXT}{SUM}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}{SUM}#endif\n",
        "auto f = [=] __device__ (int i) { return thrust::get<0>(i); };\n",
        "struct Vec { __device__ Vec(",
        "__device__",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("    __device__ Vec operator+(const Vec& o) const;\n", "").split("\nstatic")[0],
        TEXT.replace("__device__ __forceinline__", "__host__ __device__ __forceinline__"),
        "struct Sampler {\n  __device__ Sampler(int n) {}\n  __device__ float next() { return 0; }\n};\n",
    ],
)
def test_no_finding_for_other_header_types(positions, text):
    assert positions(RULE, "a.cuh", text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.cuh", TEXT, POSITIONS),
        ("a.cuh", TEXT.replace("\n", "\r\n"), POSITIONS),
        ("a.cu", TEXT + SUM, POSITIONS),
        ("a.cu", TEXT + SUM.replace("cub::DeviceReduce::Sum(", "thrust::device_vector<Vec> v("), POSITIONS),
        ("a.h", TEXT.replace("struct __align__(16)", "class"), POSITIONS),
        (
            "a.h",
            "/* ä */ struct V { __device__ V() {} __device__ V operator-(V o) { return o; } };\n",
            [(1, 20), (1, 38)],
        ),
    ],
)
def test_one_finding_per_device_only_member(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cuh", b"// \xff\n" + TEXT.encode())[0] == (5, 5)


def test_message_names_member_and_algorithm(findings):
    results = findings(RULE, "a.cu", TEXT + SUM)

    assert {(finding.code, finding.severity) for finding in results} == {("CU305", "error")}
    assert results[2].message.startswith("Vec::operator+ is __device__ only and is passed to cub::DeviceReduce; hipCUB")


def test_message_in_a_header_names_a_possible_use(findings):
    results = findings(RULE, "a.cuh", TEXT)

    assert results[0].message.startswith(
        "Vec::Vec is __device__ only and is a value type that other files may sort or sum;"
    )
