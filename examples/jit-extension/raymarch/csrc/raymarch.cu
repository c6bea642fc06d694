#include "raymarch.h"

#include <cuda_runtime.h>
#include "device_launch_parameters.h"

namespace {

constexpr int kThreads = 128;

// A cheap integer hash, for the per-ray jitter.
__host__ __device__ inline uint32_t scramble(uint64_t v) {
    v = (v ^ (v >> 33)) * 0xff51afd7ed558ccdull;
    v = (v ^ (v >> 29)) * 0xc4ceb9fe1a85ec53ull;
    return static_cast<uint32_t>((v ^ (v >> 32)) & 0xffffffff);
}

__device__ bool occupied(float x, float y, float z, int side, const uint8_t* grid) {
    const int i = static_cast<int>(floorf((x * 0.5f + 0.5f) * side));
    const int j = static_cast<int>(floorf((y * 0.5f + 0.5f) * side));
    const int k = static_cast<int>(floorf((z * 0.5f + 0.5f) * side));
    if (i < 0 || j < 0 || k < 0 || i >= side || j >= side || k >= side) return false;
    return grid[(int64_t(k) * side + j) * side + i] != 0;
}

__global__ void march_kernel(int rays, int side, int max_samples, float near_t, float far_t,
                             float step, uint32_t seed, const float* origins,
                             const float* directions, const uint8_t* grid, float* t_out,
                             float* dt_out) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rays) return;
    const float* o = origins + 3 * r;
    const float* d = directions + 3 * r;
    const uint64_t key = (static_cast<uint64_t>(seed) << 32) | static_cast<uint32_t>(r);
    const float jitter = scramble(key) * 2.3283064e-10f;
    int used = 0;
    for (float t = near_t + jitter * step; t < far_t && used < max_samples; t += step) {
        if (!occupied(o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2], side, grid)) continue;
        t_out[int64_t(r) * max_samples + used] = t;
        dt_out[int64_t(r) * max_samples + used] = step;
        ++used;
    }
}

__global__ void composite_kernel(int rays, int samples, const float* sigma, const float* color,
                                 const float* dt, float* rgb, float* opacity) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rays) return;
    float left = 1.f, sum[3] = {0.f, 0.f, 0.f};
    for (int s = 0; s < samples && left > 1e-4f; ++s) {
        const int64_t i = int64_t(r) * samples + s;
        const float alpha = 1.f - __expf(-sigma[i] * dt[i]);
        for (int c = 0; c < 3; ++c) sum[c] += left * alpha * color[3 * i + c];
        left *= 1.f - alpha;
    }
    for (int c = 0; c < 3; ++c) rgb[3 * r + c] = sum[c];
    opacity[r] = 1.f - left;
}

}  // namespace

void launch_march(int rays, int side, int max_samples, float near_t, float far_t, float step,
                  uint32_t seed, const float* origins, const float* directions,
                  const uint8_t* grid, float* t, float* dt, cudaStream_t stream) {
    if (rays == 0) return;
    march_kernel<<<(rays + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
        rays, side, max_samples, near_t, far_t, step, seed, origins, directions, grid, t, dt);
}

void launch_composite(int rays, int samples, const float* sigma, const float* color,
                      const float* dt, float* rgb, float* opacity, cudaStream_t stream) {
    if (rays == 0) return;
    composite_kernel<<<(rays + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
        rays, samples, sigma, color, dt, rgb, opacity);
}
