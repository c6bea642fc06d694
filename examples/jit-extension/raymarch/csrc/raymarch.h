#pragma once

#include <cuda_runtime.h>

#include <cstdint>

void launch_march(int rays, int side, int max_samples, float near_t, float far_t, float step,
                  uint32_t seed, const float* origins, const float* directions,
                  const uint8_t* grid, float* t, float* dt, cudaStream_t stream);

void launch_composite(int rays, int samples, const float* sigma, const float* color,
                      const float* dt, float* rgb, float* opacity, cudaStream_t stream);
