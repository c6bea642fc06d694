#include <cuda_runtime.h>

__global__ void rotate(float* data) {
  __shared__ float tile[256];
  int t = threadIdx.x;
  tile[t] = data[t];
  __syncwarp();
  data[t] = tile[t / 32 * 32 + (t + 1) % 32];
}
