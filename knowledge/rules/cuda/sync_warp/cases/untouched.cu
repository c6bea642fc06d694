#include <cuda_runtime.h>
// __syncwarp() is enough here
__global__ void shift(float* data) {
  __shared__ float tile[256];
  tile[threadIdx.x] = data[threadIdx.x];
#if defined(USE_ROCM)
  __syncthreads();
#else
  __syncwarp();
#endif
  data[threadIdx.x] = tile[(threadIdx.x + 1) % 256];
}
