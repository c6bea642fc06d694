"""Compares declared with real ROCm headers: each case is compiled with both, for the host and for a target.

    python benchmarks/headers_agree.py HIP_HEADERS [--target gfx942] [--only TEXT]

HIP_HEADERS is the output of benchmarks/rocm_headers.py. Cases use functors, constructors and operators that only the
device has, as CUDA code does, in calls that are common in 3D repositories.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rocm3d.knowledge.load import load
from rocm3d.toolchain import own_headers
from rocm3d.toolchain.compiler import Compiler
from rocm3d.toolchain.finder import find_compiler

TYPES = """#include <hip/hip_runtime.h>
%s
struct DevUnary { __device__ float operator()(float a) const { return a * 2; } };
struct DevBinary { __device__ float operator()(float a, float b) const { return a + b; } };
struct DevLess { __device__ bool operator()(float a, float b) const { return a < b; } };
struct DevPred { __device__ bool operator()(float a) const { return a > 0; } };
struct BothBinary { __host__ __device__ float operator()(float a, float b) const { return a + b; } };
struct DevVec {
  float x, y, z;
  __device__ DevVec() : x(0), y(0), z(0) {}
  __device__ DevVec(float a, float b, float c) : x(a), y(b), z(c) {}
  __device__ DevVec operator+(const DevVec& o) const { return DevVec(x + o.x, y + o.y, z + o.z); }
};
struct DevOps {
  float x = 0;
  __device__ DevOps operator+(const DevOps& o) const { DevOps r; r.x = x + o.x; return r; }
  __device__ bool operator<(const DevOps& o) const { return x < o.x; }
  __device__ bool operator==(const DevOps& o) const { return x == o.x; }
};
struct DevVecSum { __device__ DevVec operator()(const DevVec& a, const DevVec& b) const { return a + b; } };
void go(float* p, float* q, int* k, int* o, DevVec* v, DevVec* w, DevOps* u, void* t, size_t& b, int n) {
  %s
}
"""
CUB = ("hipcub/hipcub.hpp",)
THRUST = tuple(
    f"thrust/{name}.h"
    for name in (
        "transform", "reduce", "sort", "for_each", "transform_reduce", "remove", "copy", "count", "execution_policy",
        "device_vector", "scan", "unique", "sequence", "tuple", "iterator/counting_iterator",
        "iterator/transform_iterator", "iterator/zip_iterator",
    )
)  # fmt: skip
CASES = {
    "transform, device functor": (THRUST, "thrust::transform(thrust::device, p, p + n, q, DevUnary{});"),
    "transform, device lambda": (
        THRUST, "thrust::transform(thrust::device, p, p + n, q, [=] __device__(float a) { return a + n; });"
    ),
    "transform, device_ptr": (
        THRUST, "thrust::device_ptr<float> d(p), e(q); thrust::transform(d, d + n, e, DevUnary{});"
    ),
    "reduce, device functor": (THRUST, "q[0] = thrust::reduce(thrust::device, p, p + n, 0.f, DevBinary{});"),
    "sort, device functor": (THRUST, "thrust::sort(thrust::device, p, p + n, DevLess{});"),
    "sort, device operator": (THRUST, "thrust::sort(thrust::device, u, u + n);"),
    "for_each, device lambda": (
        THRUST,
        (
            "thrust::counting_iterator<int> c(0); auto f = [=] __device__(int i) { p[i] = i; };"
            " thrust::for_each(thrust::device, c, c + n, f);"
        ),
    ),
    "transform_reduce": (
        THRUST, "q[0] = thrust::transform_reduce(thrust::device, p, p + n, DevUnary{}, 0.f, DevBinary{});"
    ),
    "remove_if": (THRUST, "thrust::remove_if(thrust::device, p, p + n, DevPred{});"),
    "copy_if": (THRUST, "thrust::copy_if(thrust::device, p, p + n, q, DevPred{});"),
    "count_if": (THRUST, "o[0] = thrust::count_if(thrust::device, p, p + n, DevPred{});"),
    "inclusive_scan": (THRUST, "thrust::inclusive_scan(thrust::device, p, p + n, q, DevBinary{});"),
    "reduce_by_key": (
        THRUST,
        "thrust::reduce_by_key(thrust::device, k, k + n, p, o, q, thrust::equal_to<int>(), DevBinary{});",
    ),
    "unique": (THRUST, "thrust::unique(thrust::device, p, p + n, DevLess{});"),
    "device_vector, device constructor": (THRUST, "thrust::device_vector<DevVec> x(n);"),
    "reduce, device constructor": (THRUST, "w[0] = thrust::reduce(thrust::device, v, v + n, v[0], DevVecSum{});"),
    "transform_iterator": (
        THRUST,
        "auto i = thrust::make_transform_iterator(p, DevUnary{}); q[0] = thrust::reduce(thrust::device, i, i + n);",
    ),
    "zip_iterator, sort": (
        THRUST,
        "auto z = thrust::make_zip_iterator(thrust::make_tuple(p, q)); thrust::sort(thrust::device, z, z + n);",
    ),
    "Reduce, device functor": (CUB, "(void)hipcub::DeviceReduce::Reduce(t, b, p, q, n, DevBinary{}, 0.f);"),
    "Reduce, both": (CUB, "(void)hipcub::DeviceReduce::Reduce(t, b, p, q, n, BothBinary{}, 0.f);"),
    "Reduce, device constructor": (CUB, "(void)hipcub::DeviceReduce::Reduce(t, b, v, w, n, DevVecSum{}, v[0]);"),
    "Sum, device constructor": (CUB, "(void)hipcub::DeviceReduce::Sum(t, b, v, w, n);"),
    "Sum, device operator": (CUB, "(void)hipcub::DeviceReduce::Sum(t, b, u, u, n);"),
    "Max, device operator": (CUB, "(void)hipcub::DeviceReduce::Max(t, b, u, u, n);"),
    "segmented Sum, device constructor": (CUB, "(void)hipcub::DeviceSegmentedReduce::Sum(t, b, v, w, n, k, k + 1);"),
    "segmented Sum, device operator": (CUB, "(void)hipcub::DeviceSegmentedReduce::Sum(t, b, u, u, n, k, k + 1);"),
    "segmented Reduce": (
        CUB, "(void)hipcub::DeviceSegmentedReduce::Reduce(t, b, p, q, n, k, k + 1, DevBinary{}, 0.f);"
    ),
    "InclusiveScan": (CUB, "(void)hipcub::DeviceScan::InclusiveScan(t, b, p, q, DevBinary{}, n);"),
    "ExclusiveScan": (CUB, "(void)hipcub::DeviceScan::ExclusiveScan(t, b, p, q, DevBinary{}, 0.f, n);"),
    "ExclusiveSum, device constructor": (CUB, "(void)hipcub::DeviceScan::ExclusiveSum(t, b, v, w, n);"),
    "InclusiveSum, device constructor": (CUB, "(void)hipcub::DeviceScan::InclusiveSum(t, b, v, w, n);"),
    "InclusiveSum, device operator": (CUB, "(void)hipcub::DeviceScan::InclusiveSum(t, b, u, u, n);"),
    "If, device functor": (CUB, "(void)hipcub::DeviceSelect::If(t, b, p, q, o, n, DevPred{});"),
    "If, device lambda": (
        CUB, "(void)hipcub::DeviceSelect::If(t, b, p, q, o, n, [=] __device__(float a) { return a > n; });"
    ),
    "ReduceByKey": (CUB, "(void)hipcub::DeviceReduce::ReduceByKey(t, b, k, o, p, q, o, DevBinary{}, n);"),
    "ReduceByKey, device constructor": (
        CUB, "(void)hipcub::DeviceReduce::ReduceByKey(t, b, k, o, v, w, o, DevVecSum{}, n);"
    ),
    "Unique, device operator": (CUB, "(void)hipcub::DeviceSelect::Unique(t, b, u, u, o, n);"),
    "Encode, device operator": (CUB, "(void)hipcub::DeviceRunLengthEncode::Encode(t, b, u, u, o, o, n);"),
    "SortPairs": (CUB, "(void)hipcub::DeviceRadixSort::SortPairs(t, b, k, o, p, q, n);"),
    "SortPairs, device constructor": (CUB, "(void)hipcub::DeviceRadixSort::SortPairs(t, b, k, o, v, w, n);"),
    "merge sort": (CUB, "(void)hipcub::DeviceMergeSort::SortKeys(t, b, p, n, DevLess{});"),
    "TransformInputIterator": (
        CUB,
        (
            "hipcub::TransformInputIterator<float, DevUnary, float*> i(p, {});"
            " (void)hipcub::DeviceReduce::Sum(t, b, i, q, n);"
        ),
    ),
    "decomposer of rocPRIM": (
        (*CUB, "rocprim/types/tuple.hpp"),
        (
            "struct D { __host__ __device__ ::rocprim::tuple<int&, int&> operator()(int3& a) const"
            " { return ::rocprim::tuple<int&, int&>{a.x, a.y}; } }; int3* i = nullptr;"
            " (void)hipcub::DeviceRadixSort::SortKeys(t, b, i, i, n, D{});"
        ),
    ),
    "decomposer of libcu++": (
        CUB,
        "struct D { __host__ __device__ ::cuda::std::tuple<int&> operator()(int3& a) const { return {a.x}; } };",
    ),
}  # fmt: skip


def compile_case(compiler: Compiler, folder: Path, headers: Path, name: str, target: str) -> str:
    """`ok` or the first error, for host and device."""
    includes, body = CASES[name]
    base = folder / f"{abs(hash((name, str(headers))))}"
    source = base.with_suffix(".hip")
    source.write_text(TYPES % ("".join(f"#include <{item}>\n" for item in includes), body), encoding="utf-8")
    first = ["-isystem", str(headers)] if headers == own_headers.DECLARED else [f"-I{headers}"]
    flags = [*first, "-w", "-std=c++17", "-O0"]
    results = []
    for ended in (
        compiler.compile_host(source, base.with_suffix(".h.o"), flags),
        compiler.compile_device(source, target, base.with_suffix(".o"), flags),
    ):
        lines = [line.partition("error: ")[2] for line in ended.messages.splitlines() if "error: " in line]
        results.append("ok" if ended.output is not None else (lines[0] if lines else "failed"))
    return " | ".join(results)


def main() -> int:
    """Print the table; 1 if the two kinds of headers disagree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", type=Path)
    parser.add_argument("--target", default="gfx942")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    compiler, differ = find_compiler(load().toolchains), 0
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        header_folders = (own_headers.DECLARED, options.headers.resolve())
        jobs = {
            name: [
                pool.submit(compile_case, compiler, Path(scratch), headers, name, options.target)
                for headers in header_folders
            ]
            for name in CASES
            if options.only in name
        }
        for name, (declared, real) in jobs.items():
            declared_result, real_result = declared.result(), real.result()
            same = [part == "ok" for part in declared_result.split(" | ")] == [
                part == "ok" for part in real_result.split(" | ")
            ]
            differ += not same
            print(
                f"{'same  ' if same else 'DIFFER'} {name}: {declared_result}{'' if same else f' <> {real_result}'}",
                flush=True,
            )
    print(f"{len(jobs)} cases, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
