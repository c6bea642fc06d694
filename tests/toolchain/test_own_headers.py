"""The declared headers through the real compiler: they take what the real ones take, and refuse what those refuse.

Which of these the real headers take was measured with benchmarks/headers_agree.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.toolchain import own_headers

TYPES = """#include <hip/hip_runtime.h>
struct DeviceSum { __device__ float operator()(float a, float b) const { return a + b; } };
struct DeviceVector {
  float x;
  __device__ DeviceVector(float value = 0) : x(value) {}
  __device__ DeviceVector operator+(const DeviceVector& o) const { DeviceVector r; r.x = x + o.x; return r; }
};
void go(float* p, float* q, DeviceVector* v, int* o, void* t, size_t& b, int n) {
  %s
}
"""


@pytest.fixture
def compile_text(toolchain, tmp_path):
    """The compiler's messages for the host side of a text; empty if it compiles."""

    def compiled(includes: str, body: str, gfx: str | None = None) -> str:
        source = tmp_path / "c.hip"
        source.write_text(f"{includes}\n" + TYPES % body)
        flags = ["-O1", "-w", "-std=c++17", "-isystem", str(own_headers.DECLARED)]
        output = tmp_path / "c.o"
        ended = (
            toolchain.compile_device(source, gfx, output, flags)
            if gfx
            else toolchain.compile_host(source, output, flags)
        )
        return "" if ended.output is not None else ended.messages

    return compiled


@pytest.mark.parametrize(
    ("include", "body"),
    [
        ("hipcub/hipcub.hpp", "(void)hipcub::DeviceSegmentedReduce::Sum(t, b, v, v, n, o, o + 1);"),
        ("hipcub/hipcub.hpp", "(void)hipcub::DeviceReduce::Sum(t, b, v, v, n);"),
        ("hipcub/hipcub.hpp", "(void)hipcub::DeviceScan::InclusiveSum(t, b, v, v, n);"),
        ("thrust/reduce.h>\n#include <thrust/execution_policy.h", "thrust::reduce(thrust::device, v, v + n);"),
    ],
)
def test_a_device_constructor_fails_on_the_host(compile_text, include, body):
    messages = compile_text(f"#include <{include}>", body)

    assert "__device__ function" in messages, messages


def test_a_tuple_of_another_library_is_not_a_decomposer(compile_text):
    body = "struct D { __host__ __device__ std::tuple<int&> operator()(int3& k) const { return {k.x}; } };\n"
    body += "int3* k = nullptr; (void)hipcub::DeviceRadixSort::SortKeys(t, b, k, k, n, D{}, 0, 32);"

    assert "rocprim::tuple" in compile_text("#include <hipcub/hipcub.hpp>", body)


@pytest.mark.parametrize("gfx", [None, "gfx942", "gfx1100"])
def test_device_operators_are_accepted_where_the_real_headers_accept_them(compile_text, gfx):
    includes = "".join(
        f"#include <{name}>\n"
        for name in (
            "hipcub/hipcub.hpp",
            "thrust/device_vector.h",
            "thrust/execution_policy.h",
            "thrust/for_each.h",
            "thrust/iterator/counting_iterator.h",
            "thrust/iterator/transform_iterator.h",
            "thrust/iterator/zip_iterator.h",
            "thrust/remove.h",
            "thrust/scan.h",
            "thrust/sort.h",
            "thrust/transform_reduce.h",
            "thrust/unique.h",
        )
    )
    body = """(void)hipcub::DeviceReduce::Reduce(t, b, p, q, n, DeviceSum{}, 0.f);
  (void)hipcub::DeviceSelect::If(t, b, p, q, o, n, [=] __device__(float a) { return a > n; });
  (void)hipcub::DeviceRadixSort::SortPairs(t, b, o, o, v, v, n);
  thrust::inclusive_scan(thrust::device, p, p + n, q, DeviceSum{});
  thrust::for_each(thrust::hip::par.on(nullptr), thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
                   [=] __device__(int i) { p[i] = i; });
  auto twice = [] __device__(float a) { return a * 2; };
  auto mapped = thrust::make_transform_iterator(p, twice);
  thrust::reduce(thrust::device, mapped, mapped + n);
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(p, q));
  thrust::sort(thrust::device, zipped, zipped + n);
  thrust::device_vector<float> d(n, 1.f);
  thrust::sort(d.begin(), d.end());
  d.erase(thrust::unique(d.begin(), d.end()), d.end());
  q[0] = d[0] + thrust::raw_pointer_cast(d.data())[0];"""

    assert compile_text(includes, body, gfx) == ""


@pytest.mark.parametrize("gfx", [None, "gfx942"])
def test_the_other_libraries_are_declared(compile_text, gfx):
    includes = "".join(
        f"#include <{name}>\n"
        for name in (
            "hip/hip_bf16.h",
            "hip/hip_fp8.h",
            "hipblas/hipblas.h",
            "hipblaslt/hipblaslt.h",
            "hipsolver/hipsolver.h",
            "hipsparse/hipsparse.h",
            "hiprand/hiprand_kernel.h",
            "rocprim/rocprim.hpp",
            "thrust/complex.h",
            "thrust/random.h",
        )
    )
    kernel = """__global__ void k(float* f, __hip_bfloat16* h) {
  hiprandState s;
  hiprand_init(1, 2, 3, &s);
  f[0] = hiprand_uniform(&s) + thrust::abs(thrust::exp(thrust::complex<float>(f[0], 1)));
  h[0] = __shfl_up_sync(0xffffffffffffffffull, h[0] + h[1], 1u);
}
"""
    body = "hipblasHandle_t h; (void)hipblasSgemm(h, HIPBLAS_OP_N, HIPBLAS_OP_N, n, n, n, p, p, n, p, n, p, q, n);"

    assert compile_text(includes + kernel, body, gfx) == ""


CSRGEMM2 = """hipsparseHandle_t h = nullptr;
  hipsparseMatDescr_t m = nullptr;
  csrgemm2Info_t info = NULL;
  (void)hipsparseCreateCsrgemm2Info(&info);
  auto each = [&](auto zero, const auto& size, const auto& multiply) {
    decltype(zero) *values = nullptr;
    (void)size(h, n, n, n, &zero, m, n, o, o, m, n, o, o, NULL, m, 0, NULL, NULL, info, &b);
    (void)hipsparseXcsrgemm2Nnz(h, n, n, n, m, n, o, o, m, n, o, o, m, 0, NULL, NULL, m, o, o, info, t);
    (void)multiply(h, n, n, n, &zero, m, n, values, o, o, m, n, values, o, o, NULL, m, 0, NULL, NULL, NULL, m, values,
                   o, o, info, t);
  };
  each(0.f, hipsparseScsrgemm2_bufferSizeExt, hipsparseScsrgemm2);
  each(0.0, hipsparseDcsrgemm2_bufferSizeExt, hipsparseDcsrgemm2);
  each(hipComplex{}, hipsparseCcsrgemm2_bufferSizeExt, hipsparseCcsrgemm2);
  each(hipDoubleComplex{}, hipsparseZcsrgemm2_bufferSizeExt, hipsparseZcsrgemm2);
  (void)hipsparseDestroyCsrgemm2Info(info);"""


def test_the_older_product_of_sparse_matrices_is_declared_as_the_real_header_has_it(compile_text):
    """hipSPARSE still has it although cuSPARSE dropped it with CUDA 12; programs call it through references."""
    assert compile_text("#include <hipsparse/hipsparse.h>", CSRGEMM2) == ""


def test_every_header_has_its_include_name():
    assert own_headers.include_name(own_headers.DECLARED / "hipcub" / "hipcub.hpp") == "hipcub/hipcub.hpp"
    assert own_headers.include_name(own_headers.COMPLETED / "hip" / "hip_fp16.h") == "hip/hip_fp16.h"
    assert own_headers.include_name(Path("/usr/include/stdio.h")) is None


def test_the_digest_depends_on_the_contents(monkeypatch, tmp_path):
    (tmp_path / "a.h").write_text("1")
    monkeypatch.setattr(own_headers, "FOLDER", tmp_path)
    own_headers.digest.cache_clear()
    before = own_headers.digest()
    (tmp_path / "a.h").write_text("2")
    own_headers.digest.cache_clear()

    assert own_headers.digest() != before
    own_headers.digest.cache_clear()
