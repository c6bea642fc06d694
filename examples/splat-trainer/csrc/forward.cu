#include "forward.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

namespace cg = cooperative_groups;

namespace splat {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr float kNear = 0.05f;
constexpr float kMinAlpha = 1.0f / 255.0f;
constexpr float kMinTransmittance = 1e-4f;

__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = kWarp / 2; offset > 0; offset >>= 1) {
        v += __shfl_down_sync(0xffffffff, v, offset);
    }
    return v;
}

// Rows of R * diag(s): the square root of the 3D covariance.
__device__ void covariance_root(const float* q, const float* s, float m[9]) {
    const float inv = rsqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] + 1e-12f);
    const float w = q[0] * inv, x = q[1] * inv, y = q[2] * inv, z = q[3] * inv;
    m[0] = (1.f - 2.f * (y * y + z * z)) * s[0];
    m[1] = 2.f * (x * y - w * z) * s[1];
    m[2] = 2.f * (x * z + w * y) * s[2];
    m[3] = 2.f * (x * y + w * z) * s[0];
    m[4] = (1.f - 2.f * (x * x + z * z)) * s[1];
    m[5] = 2.f * (y * z - w * x) * s[2];
    m[6] = 2.f * (x * z - w * y) * s[0];
    m[7] = 2.f * (y * z + w * x) * s[1];
    m[8] = (1.f - 2.f * (x * x + y * y)) * s[2];
}

__device__ bool project_one(const float* mean, const float* scale, const float* quat,
                            float opacity, const Camera& cam, Splat2D& out) {
    const float* v = cam.view;
    const float px = v[0] * mean[0] + v[1] * mean[1] + v[2] * mean[2] + v[3];
    const float py = v[4] * mean[0] + v[5] * mean[1] + v[6] * mean[2] + v[7];
    const float pz = v[8] * mean[0] + v[9] * mean[1] + v[10] * mean[2] + v[11];
    out.depth = 0.f;
    if (pz < kNear) return false;

    float m[9];
    covariance_root(quat, scale, m);

    // J * W * M, two rows of three: how each principal axis moves on the image.
    const float iz = 1.f / pz;
    float u[3], w[3];
    for (int k = 0; k < 3; ++k) {
        const float ax = v[0] * m[k] + v[1] * m[3 + k] + v[2] * m[6 + k];
        const float ay = v[4] * m[k] + v[5] * m[3 + k] + v[6] * m[6 + k];
        const float az = v[8] * m[k] + v[9] * m[3 + k] + v[10] * m[6 + k];
        u[k] = cam.fx * iz * (ax - px * iz * az);
        w[k] = cam.fy * iz * (ay - py * iz * az);
    }
    const float cxx = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + 0.3f;
    const float cxy = u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
    const float cyy = w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + 0.3f;
    const float det = cxx * cyy - cxy * cxy;
    if (det <= 0.f) return false;

    const float mid = 0.5f * (cxx + cyy);
    const float major = mid + sqrtf(fmaxf(mid * mid - det, 0.f));
    out.x = cam.fx * px * iz + cam.cx;
    out.y = cam.fy * py * iz + cam.cy;
    out.a = cyy / det;
    out.b = -cxy / det;
    out.c = cxx / det;
    out.radius = ceilf(3.f * sqrtf(major));
    out.opacity = opacity;
    const bool inside = out.x + out.radius > 0.f && out.x - out.radius < cam.width &&
                        out.y + out.radius > 0.f && out.y - out.radius < cam.height;
    if (inside) out.depth = pz;
    return inside;
}

__global__ void project_kernel(int count, const float* means, const float* scales,
                               const float* quats, const float* opacities, Camera cam,
                               Splat2D* out, int* visible) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool pred = false;
    if (i < count) {
        Splat2D s = {};
        pred = project_one(means + 3 * i, scales + 3 * i, quats + 4 * i, opacities[i], cam, s);
        out[i] = s;
    }
    // One atomic per warp rather than one per Gaussian.
    unsigned ballot = __ballot_sync(0xffffffff, pred);
    if ((threadIdx.x & (kWarp - 1)) == 0 && ballot != 0) {
        atomicAdd(visible, __popc(ballot));
    }
}

__global__ void __launch_bounds__(kTile* kTile)
blend_kernel(int count, const Splat2D* __restrict__ splats, const int* __restrict__ order,
             const float* __restrict__ colors, int width, int height, float3 background,
             float* __restrict__ image) {
    auto block = cg::this_thread_block();
    __shared__ Splat2D batch[kTile * kTile];
    __shared__ int batch_id[kTile * kTile];

    const int px = blockIdx.x * kTile + threadIdx.x;
    const int py = blockIdx.y * kTile + threadIdx.y;
    const int rank = block.thread_rank();
    const bool in_image = px < width && py < height;
    bool done = !in_image;
    float left = 1.f, r = 0.f, g = 0.f, b = 0.f;

    for (int base = 0; base < count; base += kTile * kTile) {
        if (__syncthreads_count(done) == kTile * kTile) break;
        const int take = min(kTile * kTile, count - base);
        if (rank < take) {
            batch_id[rank] = order[base + rank];
            batch[rank] = splats[batch_id[rank]];
        }
        block.sync();
        for (int j = 0; j < take && !done; ++j) {
            const Splat2D s = batch[j];
            const float dx = px + 0.5f - s.x, dy = py + 0.5f - s.y;
            if (s.depth <= 0.f || fabsf(dx) > s.radius || fabsf(dy) > s.radius) continue;
            const float power = -0.5f * (s.a * dx * dx + s.c * dy * dy) - s.b * dx * dy;
            const float alpha = fminf(0.99f, s.opacity * __expf(power));
            if (power > 0.f || alpha < kMinAlpha) continue;
            const float* rgb = colors + 3 * batch_id[j];
            r += left * alpha * rgb[0];
            g += left * alpha * rgb[1];
            b += left * alpha * rgb[2];
            left *= 1.f - alpha;
            done = left < kMinTransmittance;
        }
    }
    if (in_image) {
        float* pixel = image + 3 * (py * width + px);
        pixel[0] = r + left * background.x;
        pixel[1] = g + left * background.y;
        pixel[2] = b + left * background.z;
    }
}

__global__ void squared_error_kernel(int count, const float* lhs, const float* rhs, float* total) {
    float sum = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float d = lhs[i] - rhs[i];
        sum += d * d;
    }
    sum = warp_sum(sum);
    if ((threadIdx.x & (kWarp - 1)) == 0) atomicAdd(total, sum);
}

}  // namespace

void project(int count, const float* means, const float* scales, const float* quats,
             const float* opacities, const Camera& camera, Splat2D* out, int* visible,
             cudaStream_t stream) {
    if (count == 0) return;
    const int grid = (count + kThreads - 1) / kThreads;
    project_kernel << <grid, kThreads, 0, stream >> > (
        count, means, scales, quats, opacities, camera, out, visible);
}

void blend(int count, const Splat2D* splats, const int* order, const float* colors,
           const Camera& camera, float3 background, float* image, cudaStream_t stream) {
    const dim3 grid((camera.width + kTile - 1) / kTile, (camera.height + kTile - 1) / kTile);
    const dim3 block(kTile, kTile);
    blend_kernel<<<grid, block, 0, stream>>>(count, splats, order, colors, camera.width,
                                             camera.height, background, image);
}

void squared_error(int count, const float* lhs, const float* rhs, float* total,
                   cudaStream_t stream) {
    if (count == 0) return;
    const int wanted = (count + kThreads - 1) / kThreads;
    const int grid = wanted < 1024 ? wanted : 1024;
    dim3 block(kThreads);
    squared_error_kernel << <grid, block, 0, stream >> > (count, lhs, rhs, total);
}

}  // namespace splat
