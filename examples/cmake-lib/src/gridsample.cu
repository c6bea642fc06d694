#include "gridsample/gridsample.h"

#include <cub/cub.cuh>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels.cuh"

namespace gridsample {
namespace {

constexpr int kThreads = 256;
constexpr int kKeyBits = 63;

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
    }
}

template <typename T>
void allocate(T*& pointer, size_t count) {
    check(cudaMalloc(reinterpret_cast<void**>(&pointer), count * sizeof(T)), "cudaMalloc");
}

}  // namespace

Downsampler::Downsampler(int max_points) : capacity_(max_points) {
    allocate(keys_, max_points);
    allocate(sorted_keys_, max_points);
    allocate(unique_keys_, max_points);
    allocate(order_, max_points);
    allocate(sorted_order_, max_points);
    allocate(starts_, max_points);
    allocate(found_, 1);

    size_t sort = 0, encode = 0, scan = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, sort, keys_, sorted_keys_, order_,
                                          sorted_order_, max_points, 0, kKeyBits),
          "sort size");
    check(cub::DeviceRunLengthEncode::Encode(nullptr, encode, sorted_keys_, unique_keys_, starts_,
                                             found_, max_points),
          "encode size");
    check(cub::DeviceScan::ExclusiveSum(nullptr, scan, starts_, starts_, max_points), "scan size");
    scratch_bytes_ = std::max({sort, encode, scan});
    check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
}

Downsampler::~Downsampler() {
    for (void* p : {static_cast<void*>(keys_), static_cast<void*>(sorted_keys_),
                    static_cast<void*>(unique_keys_), static_cast<void*>(order_),
                    static_cast<void*>(sorted_order_), static_cast<void*>(starts_),
                    static_cast<void*>(found_), scratch_}) {
        cudaFree(p);
    }
}

int Downsampler::run(const float* xyz, int count, float voxel, float* centroids, int* sizes,
                     cudaStream_t stream) {
    if (count > capacity_) throw std::invalid_argument("more points than the scratch memory holds");
    if (count == 0) return 0;

    const int grid = (count + kThreads - 1) / kThreads;
    key_kernel << <grid, kThreads, 0, stream >> > (xyz, count, 1.f / voxel, keys_, order_);
    check(cudaGetLastError(), "key_kernel");

    size_t bytes = scratch_bytes_;
    check(cub::DeviceRadixSort::SortPairs(scratch_, bytes, keys_, sorted_keys_, order_,
                                          sorted_order_, count, 0, kKeyBits, stream),
          "sort");
    bytes = scratch_bytes_;
    check(cub::DeviceRunLengthEncode::Encode(scratch_, bytes, sorted_keys_, unique_keys_, sizes,
                                             found_, count, stream),
          "encode");
    int voxels = 0;
    check(cudaMemcpyAsync(&voxels, found_, sizeof(int), cudaMemcpyDeviceToHost, stream), "copy");
    check(cudaStreamSynchronize(stream), "synchronize");

    bytes = scratch_bytes_;
    check(cub::DeviceScan::ExclusiveSum(scratch_, bytes, sizes, starts_, voxels, stream), "scan");
    const dim3 blocks((voxels + kThreads - 1) / kThreads);
    centroid_kernel<< <blocks, kThreads, 0, stream>> >(xyz, sorted_order_, starts_, sizes, voxels,
                                                       centroids);
    check(cudaGetLastError(), "centroid_kernel");
    check(cudaStreamSynchronize(stream), "synchronize");
    return voxels;
}

}  // namespace gridsample
