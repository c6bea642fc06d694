#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gridsample {

// 21 bits per axis, so that a sort by key groups the points of a voxel.
__device__ inline uint64_t voxel_key(float x, float y, float z, float inv_voxel) {
    const int64_t bias = 1 << 20;
    const uint64_t i = static_cast<uint64_t>(static_cast<int64_t>(floorf(x * inv_voxel)) + bias);
    const uint64_t j = static_cast<uint64_t>(static_cast<int64_t>(floorf(y * inv_voxel)) + bias);
    const uint64_t k = static_cast<uint64_t>(static_cast<int64_t>(floorf(z * inv_voxel)) + bias);
    return (k & 0x1fffff) << 42 | (j & 0x1fffff) << 21 | (i & 0x1fffff);
}

__global__ void key_kernel(const float* xyz, int count, float inv_voxel, uint64_t* keys,
                           int* order) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    keys[i] = voxel_key(xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2], inv_voxel);
    order[i] = i;
}

__global__ void centroid_kernel(const float* xyz, const int* order, const int* starts,
                                const int* sizes, int voxels, float* centroids) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= voxels) return;
    float x = 0.f, y = 0.f, z = 0.f;
    for (int j = starts[v]; j < starts[v] + sizes[v]; ++j) {
        const float* p = xyz + 3 * order[j];
        x += p[0];
        y += p[1];
        z += p[2];
    }
    const float scale = 1.f / sizes[v];
    centroids[3 * v] = x * scale;
    centroids[3 * v + 1] = y * scale;
    centroids[3 * v + 2] = z * scale;
}

}  // namespace gridsample
