#pragma once

#include <cuda_runtime.h>

// out = (x + residual) / rms(x + residual) * weight, row by row; residual may be null.
void row_norm(int rows, int width, float eps, const float* x, const float* residual,
              const float* weight, float* out, cudaStream_t stream);
