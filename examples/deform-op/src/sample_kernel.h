#pragma once

#include <cuda_runtime.h>

#include <cstdint>

struct SampleSizes {
    int batch, length, heads, channels, queries, levels, points;
};

template <typename T>
void sample_forward(const SampleSizes& n, const T* value, const int64_t* shapes,
                    const int64_t* starts, const T* locations, const T* weights, T* out,
                    cudaStream_t stream);

template <typename T>
void sample_backward(const SampleSizes& n, const T* value, const int64_t* shapes,
                     const int64_t* starts, const T* locations, const T* weights,
                     const T* grad_out, T* grad_value, T* grad_locations, T* grad_weights,
                     cudaStream_t stream);
