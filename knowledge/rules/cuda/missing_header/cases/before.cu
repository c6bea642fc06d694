#include <cuda.h>
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

__global__ void scale(float* x, float k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= k;
}
