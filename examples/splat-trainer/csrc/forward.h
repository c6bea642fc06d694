#pragma once

#include <cuda_runtime.h>

namespace splat {

constexpr int kTile = 16;

struct Camera {
    float view[12];  // world to camera, three rows of four
    float fx, fy, cx, cy;
    int width, height;
};

// Everything the blending pass needs to know about one Gaussian.
struct Splat2D {
    float x, y;        // centre in pixels
    float a, b, c;     // inverse 2D covariance, (a b; b c)
    float depth;       // camera z; <= 0 when culled
    float radius;      // three sigma, in pixels
    float opacity;
};

void project(int count, const float* means, const float* scales, const float* quats,
             const float* opacities, const Camera& camera, Splat2D* out, int* visible,
             cudaStream_t stream);

void blend(int count, const Splat2D* splats, const int* order, const float* colors,
           const Camera& camera, float3 background, float* image, cudaStream_t stream);

void squared_error(int count, const float* lhs, const float* rhs, float* total,
                   cudaStream_t stream);

}  // namespace splat
