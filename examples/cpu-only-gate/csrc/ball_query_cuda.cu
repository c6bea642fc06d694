#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kThreads = 128;

__global__ void ball_query_kernel(int points, int centers, float radius2, int k,
                                  const float* __restrict__ xyz,
                                  const float* __restrict__ center, int64_t* index,
                                  int64_t* count) {
    __shared__ float tile[3 * kThreads];
    const int m = blockIdx.x * kThreads + threadIdx.x;
    float x = 0.f, y = 0.f, z = 0.f;
    if (m < centers) {
        x = center[3 * m];
        y = center[3 * m + 1];
        z = center[3 * m + 2];
    }
    int found = m < centers ? 0 : k;
    for (int base = 0; base < points; base += kThreads) {
        const int take = min(kThreads, points - base);
        for (int i = threadIdx.x; i < 3 * take; i += kThreads) tile[i] = xyz[3 * base + i];
        __syncthreads();
        for (int j = 0; j < take && found < k; ++j) {
            const float dx = tile[3 * j] - x, dy = tile[3 * j + 1] - y, dz = tile[3 * j + 2] - z;
            if (dx * dx + dy * dy + dz * dz < radius2) {
                index[int64_t(m) * k + found++] = base + j;
            }
        }
        __syncthreads();
    }
    if (m < centers) count[m] = found;
}

}  // namespace

void ball_query_cuda(int points, int centers, float radius, int k, const float* xyz,
                     const float* center, int64_t* index, int64_t* count, void* stream) {
    if (centers == 0) return;
    const int grid = (centers + kThreads - 1) / kThreads;
    ball_query_kernel<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        points, centers, radius * radius, k, xyz, center, index, count);
}
