#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#include "sample_kernel.h"

namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;

// The four corners of one sampling point: offsets in pixels and bilinear weights.
template <typename T>
struct Corners {
    int index[4];  // -1 when outside the map
    T weight[4];
    T dx[4], dy[4];  // derivative of the weight with respect to x and y

    __device__ Corners(T x, T y, int height, int width) {
        const int x0 = static_cast<int>(floor(x)), y0 = static_cast<int>(floor(y));
        const T fx = x - x0, fy = y - y0;
        for (int k = 0; k < 4; ++k) {
            const int right = k & 1, low = k >> 1;
            const int cx = x0 + right, cy = y0 + low;
            const bool inside = cx >= 0 && cy >= 0 && cx < width && cy < height;
            index[k] = inside ? cy * width + cx : -1;
            const T wx = right ? fx : 1 - fx, wy = low ? fy : 1 - fy;
            weight[k] = wx * wy;
            dx[k] = (right ? T(1) : T(-1)) * wy;
            dy[k] = (low ? T(1) : T(-1)) * wx;
        }
    }
};

template <typename T>
__device__ __forceinline__ T warp_reduce(T v) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        v += __shfl_xor_sync(0xffffffff, v, offset);
    }
    return v;
}

// One thread per output channel.
template <typename T>
__global__ void forward_kernel(SampleSizes n, const T* value, const int64_t* shapes,
                               const int64_t* starts, const T* locations, const T* weights,
                               T* out) {
    const int64_t total = int64_t(n.batch) * n.queries * n.heads * n.channels;
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int c = i % n.channels;
    const int64_t site = i / n.channels;  // (batch, query, head)
    const int head = site % n.heads;
    const int batch = site / (int64_t(n.heads) * n.queries);

    T sum = 0;
    for (int level = 0; level < n.levels; ++level) {
        const int height = shapes[2 * level], width = shapes[2 * level + 1];
        const int64_t first = int64_t(batch) * n.length + starts[level];
        for (int p = 0; p < n.points; ++p) {
            const int64_t at = (site * n.levels + level) * n.points + p;
            const Corners<T> corner(locations[2 * at] * width - T(0.5),
                                    locations[2 * at + 1] * height - T(0.5), height, width);
            T sample = 0;
            for (int k = 0; k < 4; ++k) {
                if (corner.index[k] < 0) continue;
                const int64_t row = (first + corner.index[k]) * n.heads + head;
                sample += corner.weight[k] * value[row * n.channels + c];
            }
            sum += weights[at] * sample;
        }
    }
    out[i] = sum;
}

// One warp per (batch, query, head); its lanes walk the channels.
template <typename T>
__global__ void backward_kernel(SampleSizes n, const T* value, const int64_t* shapes,
                                const int64_t* starts, const T* locations, const T* weights,
                                const T* grad_out, T* grad_value, T* grad_locations,
                                T* grad_weights) {
    const int lane = threadIdx.x % kWarp;
    const int64_t site = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
    if (site >= int64_t(n.batch) * n.queries * n.heads) return;
    const int head = site % n.heads;
    const int batch = site / (int64_t(n.heads) * n.queries);

    for (int level = 0; level < n.levels; ++level) {
        const int height = shapes[2 * level], width = shapes[2 * level + 1];
        const int64_t first = int64_t(batch) * n.length + starts[level];
        for (int p = 0; p < n.points; ++p) {
            const int64_t at = (site * n.levels + level) * n.points + p;
            const T weight = weights[at];
            const Corners<T> corner(locations[2 * at] * width - T(0.5),
                                    locations[2 * at + 1] * height - T(0.5), height, width);
            T gw = 0, gx = 0, gy = 0;
            for (int c = lane; c < n.channels; c += kWarp) {
                const T g = grad_out[site * n.channels + c];
                for (int k = 0; k < 4; ++k) {
                    if (corner.index[k] < 0) continue;
                    const int64_t row = (first + corner.index[k]) * n.heads + head;
                    const T v = value[row * n.channels + c];
                    gw += g * corner.weight[k] * v;
                    gx += g * weight * corner.dx[k] * v;
                    gy += g * weight * corner.dy[k] * v;
                    atomicAdd(grad_value + row * n.channels + c, g * weight * corner.weight[k]);
                }
            }
            gw = warp_reduce(gw);
            gx = warp_reduce(gx);
            gy = warp_reduce(gy);
            if (lane == 0) {
                grad_weights[at] = gw;
                grad_locations[2 * at] = gx * width;
                grad_locations[2 * at + 1] = gy * height;
            }
        }
    }
}

int blocks(int64_t threads) { return static_cast<int>((threads + kThreads - 1) / kThreads); }

}  // namespace

template <typename T>
void sample_forward(const SampleSizes& n, const T* value, const int64_t* shapes,
                    const int64_t* starts, const T* locations, const T* weights, T* out,
                    cudaStream_t stream) {
    const int64_t threads = int64_t(n.batch) * n.queries * n.heads * n.channels;
    if (threads == 0) return;
    forward_kernel<T><<<blocks(threads), kThreads, 0, stream>>>(n, value, shapes, starts,
                                                                locations, weights, out);
}

template <typename T>
void sample_backward(const SampleSizes& n, const T* value, const int64_t* shapes,
                     const int64_t* starts, const T* locations, const T* weights,
                     const T* grad_out, T* grad_value, T* grad_locations, T* grad_weights,
                     cudaStream_t stream) {
    const int64_t threads = int64_t(n.batch) * n.queries * n.heads * kWarp;
    if (threads == 0) return;
    backward_kernel<T><<<blocks(threads), kThreads, 0, stream>>>(
        n, value, shapes, starts, locations, weights, grad_out, grad_value, grad_locations,
        grad_weights);
}

#define INSTANTIATE(T)                                                                        \
    template void sample_forward<T>(const SampleSizes&, const T*, const int64_t*,             \
                                    const int64_t*, const T*, const T*, T*, cudaStream_t);    \
    template void sample_backward<T>(const SampleSizes&, const T*, const int64_t*,            \
                                     const int64_t*, const T*, const T*, const T*, T*, T*,    \
                                     T*, cudaStream_t);
INSTANTIATE(float)
INSTANTIATE(double)
