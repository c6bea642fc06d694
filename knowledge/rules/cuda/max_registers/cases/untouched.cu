#include <cuda_runtime.h>

// __maxnreg__(64) made no difference
__global__ void __launch_bounds__(256) scale(float* x, float k) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= k;
}
