#include <cuda.h>
#include "cuda_runtime.h"
#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)
#include "device_launch_parameters.h"
#endif

__global__ void scale(float* x, float k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= k;
}
