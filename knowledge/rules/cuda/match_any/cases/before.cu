#include <cuda_runtime.h>

__global__ void histogram(const int* keys, int* bins) {
  int lane = threadIdx.x % warpSize;
  int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned peers = __match_any_sync(__activemask(), key);
  if (lane == __ffs(peers) - 1) atomicAdd(&bins[key], __popc(peers));
}
