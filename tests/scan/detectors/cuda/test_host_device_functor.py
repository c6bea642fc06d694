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
PLACES = [(4, 5), (5, 5), (6, 5), (10, 1), (14, 8)]
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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("    __device__ Vec operator+(const Vec& o) const;\n", "").split("\nstatic")[0],
        TEXT.replace("__device__ __forceinline__", "__host__ __device__ __forceinline__"),
        "struct Sampler {\n  __device__ Sampler(int n) {}\n  __device__ float next() { return 0; }\n};\n",
    ],
)
def test_header_type_that_is_no_number_or_has_host_constructors_is_left_alone(places, text):
    assert places(RULE, "a.cuh", text) == []


@pytest.mark.parametrize(
    ("path", "text", "where"),
    [
        ("a.cuh", TEXT, PLACES),
        ("a.cuh", TEXT.replace("\n", "\r\n"), PLACES),
        ("a.cu", TEXT + SUM, PLACES),
        ("a.cu", TEXT + SUM.replace("cub::DeviceReduce::Sum(", "thrust::device_vector<Vec> v("), PLACES),
        ("a.h", TEXT.replace("struct __align__(16)", "class"), PLACES),
        (
            "a.h",
            "/* ä */ struct V { __device__ V() {} __device__ V operator-(V o) { return o; } };\n",
            [(1, 20), (1, 38)],
        ),
    ],
)
def test_every_device_only_member_is_found(places, path, text, where):
    assert places(RULE, path, text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cuh", b"// \xff\n" + TEXT.encode())[0] == (5, 5)


def test_message_names_member_and_algorithm(findings):
    found = findings(RULE, "a.cu", TEXT + SUM)

    assert {(item.code, item.severity) for item in found} == {("CU305", "error")}
    assert found[2].message.startswith("Vec::operator+ is __device__ only and is passed to cub::DeviceReduce; hipCUB")


def test_message_in_a_header_says_that_the_use_is_elsewhere(findings):
    found = findings(RULE, "a.cuh", TEXT)

    assert found[0].message.startswith(
        "Vec::Vec is __device__ only and is a value type that other files may sort or sum;"
    )
