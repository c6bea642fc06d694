#include "rownorm.h"

#include <cuda_runtime.h>

#if !defined(USE_ROCM)
#include <device_launch_parameters.h>
#endif

// The lane mask is 64 bits wide on AMD GPUs, whatever the wavefront size.
#if defined(USE_ROCM)
#define FULL_MASK 0xffffffffffffffffull
#else
#define FULL_MASK 0xffffffff
#endif

namespace {

constexpr int kGroup = 32;  // lanes that share a row
constexpr int kThreads = 256;

// Sum over groups of 32 lanes, on any wavefront size; every lane gets the result.
__device__ __forceinline__ float group_sum(float v) {
    for (int offset = kGroup / 2; offset > 0; offset >>= 1) {
        v += __shfl_down_sync(FULL_MASK, v, offset, 32);
    }
    return __shfl_sync(FULL_MASK, v, 0, 32);
}

// Rows past the end are read as the last row and not written, so that no lane leaves early.
__global__ void row_norm_kernel(int rows, int width, float eps, const float* __restrict__ x,
                                const float* __restrict__ residual,
                                const float* __restrict__ weight, float* __restrict__ out) {
    const int lane = threadIdx.x % kGroup;
    const long long slot = (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / kGroup;
    const long long row = slot < rows ? slot : rows - 1;
    const float* in = x + row * width;
    const float* add = residual ? residual + row * width : nullptr;

    float sum = 0.f;
    for (int c = lane; c < width; c += kGroup) {
        const float v = in[c] + (add ? add[c] : 0.f);
        sum += v * v;
    }
    const float scale = rsqrtf(group_sum(sum) / width + eps);
    if (slot >= rows) return;
    for (int c = lane; c < width; c += kGroup) {
        out[row * width + c] = (in[c] + (add ? add[c] : 0.f)) * scale * weight[c];
    }
}

}  // namespace

void row_norm(int rows, int width, float eps, const float* x, const float* residual,
              const float* weight, float* out, cudaStream_t stream) {
    if (rows == 0 || width == 0) return;
    const int per_block = kThreads / kGroup;
    const int grid = (rows + per_block - 1) / per_block;
    row_norm_kernel<<<grid, kThreads, 0, stream>>>(rows, width, eps, x, residual, weight, out);
}
